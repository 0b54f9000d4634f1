"""The commonest date words in Ukrainian, Greek, Romanian, Finnish, Hungarian, Indonesian, Vietnamese, Hindi and Arabic.

The languages stand in this order in a cell, and behind them further words of those of ``words_more.py``. Months and
weekdays are in ``names_world.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .names_world import names
from .words_more import Word, each_word

_TABLES: dict[str, dict[int | str, str]] = {
    # "Luni" is Monday, and months where they are counted.
    "weekday": {0: "luni"},
    "unit": {
        "day": "дні|днів|днями|днях|ημέρα|ημέρες|ημερών|μέρα|μέρες|μερών|zi|zile|zilele|zilei|päivä|päivän|päivää"
        "|päivien|päivässä|napban|nappal|napot|hari|ngày|दिन|दिनों|يوم|أيام|يوما|يومًا|الأيام|dagene",
        "week": "тиждень|тижня|тижні|тижнів|тижню|тижнях|тижнем|εβδομάδα|εβδομάδες|εβδομάδων|εβδομάδας|βδομάδα"
        "|βδομάδες|săptămână|săptămâna|săptămâni|săptămânile|săptămânii|viikko|viikon|viikkoa|viikolla|viikkojen"
        "|viikossa|hét|héten|hétben|héttel|minggu|pekan|tuần|हफ्ता|हफ्ते|हफ्तों|हफ़्ता|हफ़्ते|हफ़्तों|सप्ताह|सप्ताहों"
        "|أسبوع|الأسبوع|أسابيع|الأسابيع|أسبوعا|أسبوعًا|týdnem|ukene|ugerne|неделей|неделям|неделями",
        "weekend": "вихідні|вихідних|σαββατοκύριακο|weekendul|viikonloppu|viikonloppuna|hétvége|hétvégén|akhir pekan"
        "|cuối tuần",
        "month": "місяць|місяця|місяці|місяців|місяцю|μήνας|μήνα|μήνες|μηνών|luni|lunile|lunii|kuukausi|kuukauden"
        "|kuukautta|kuukausien|kuukaudessa|kuussa|hónap|hónapban|hónappal|hónapot|bulan|tháng|महीना|महीने|महीनों|माह"
        "|شهر|الشهر|أشهر|شهور|الأشهر|شهرا|شهرًا|månedene|månederne|měsícem|месяцем",
        "quarter": "кварталу|кварталі|кварталом|τρίμηνο|τριμήνου|trimestru|trimestrul|trimestrului|kvartaali|kvartaalin"
        "|kvartaalilla|kvartaalissa|neljännes|neljänneksen|neljänneksellä|vuosineljännes|vuosineljänneksen"
        "|vuosineljänneksellä|negyedév|negyedévben|kuartal|triwulan|quý|तिमाही|तिमाहियों|ربع|الربع|çeyreğin",
        "year": "рік|року|році|роки|років|έτος|έτους|χρόνο|χρόνια|χρονιά|anul|anului|ani|anii|vuosi|vuonna|vuoden"
        "|vuotta|vuosien|év|évben|évvel|tahun|साल|सालों|वर्ष|वर्षों|سنة|السنة|عام|العام|سنوات|أعوام|rokem|годом",
        "sprint": "спринту|спринті|спринтом|спринтах|спринтами|σπριντ|sprintul|sprintului|sprinturi|sprinturile"
        "|sprint-ul|sprintti|sprintin|sprinttiä|sprintissä|sprintistä|sprinttien|sprintit|sprintben|sprintet|sprintek"
        "|sprintből|sprintre|स्प्रिंट|سبرنت|السبرنت|سبرينت|السبرينت|sprintech|sprintů|sprintem|sprinter|sprintene"
        "|sprinterne|sprintin|sprintler",
    },
    # With the article, which makes it no date of its own: "lunea trecută".
    "weekday_said": {0: "lunea", 1: "marțea", 2: "miercurea", 3: "joi|joia", 4: "vinerea", 5: "sâmbăta", 6: "duminica"},
    "unit_off": {
        "week -1": "múlt héten|múlt hét|előző héten|előző hét|저번주|저번 주",
        "month -1": "luna trecută|luna precedentă|luna anterioară|múlt hónapban|előző hónapban|múlt hónap|저번달"
        "|저번 달",
        "quarter -1": "múlt negyedévben|előző negyedévben|előző negyedév",
        "sprint -1": "múlt sprintben|előző sprintben|legutóbbi sprintben|utolsó sprintben|előző sprint",
        "week 0": "ezen a héten|ez a hét|e héten",
        "month 0": "luna aceasta|luna asta|luna curentă|ebben a hónapban|ez a hónap",
        "quarter 0": "ebben a negyedévben|ez a negyedév",
        "sprint 0": "ebben a sprintben|ez a sprint|jelenlegi sprintben|aktuális sprintben|mostani sprintben",
        "year 0": "ebben az évben",
        "week 1": "jövő héten|jövő hét|tuần sau",
        "month 1": "luna viitoare|jövő hónapban|tháng sau",
        "sprint 1": "következő sprintben|következő sprint|sprint sau",
    },
    "years_off": {
        -1: "торік|πέρυσι|πέρσι|tavaly|năm ngoái|năm trước|i fjor|loni|작년|지난해",
        0: "цьогоріч|φέτος|anul ăsta|anul acesta|idén|năm nay|letos|올해|금년",
        1: "jövőre|năm sau|příští rok|내년",
    },
    "relation": {
        "last": "минулий|минула|минуле|минулого|минулому|минулої|минулій|минулу|минулих|минулі|попередній|попереднього"
        "|попередньому|попередньої|останній|останнього|останньому|останню|останні|останніх|останньої|περασμένη"
        "|περασμένο|περασμένου|περασμένης|περασμένες|περασμένους|προηγούμενη|προηγούμενο|προηγούμενου|προηγούμενης"
        "|τελευταία|τελευταίο|τελευταίες|τελευταίους|τελευταίων|τελευταίου|τελευταίας|ultimele|ultimii|ultimul"
        "|ultimelor|ultimilor|viime|edellinen|edellisessä|edellisellä|edellisen|viimeinen|viimeisen|viimeisten"
        "|viimeiset|viimeisimmän|viimeisessä|kuluneen|kuluneiden|elmúlt|múlt|előző|legutóbbi|utóbbi|utolsó|पिछले|पिछली"
        "|पिछला|बीते|बीती|गत|آخر|предыдущий|предыдущем|предыдущего|последнего|minulá|minulé|předchozí|předchozím"
        "|předchozího|posledního|posledním|poslednímu|geçtiğimiz|이전|저번|직전",
        "this": "цей|ця|цього|цьому|цю|цієї|цій|поточний|поточного|поточному|поточної|αυτός|αυτή|αυτό|αυτόν|αυτήν"
        "|αυτού|αυτής|τρέχον|τρέχοντα|τρέχουσα|τρέχοντος|acest|această|aceasta|acestui|acestei|tämä|tässä|tällä|tänä"
        "|tämän|nykyinen|nykyisessä|nykyisen|kuluva|kuluvalla|kuluvan|jelenlegi|aktuális|idei|इस|मौजूदा|वर्तमान|चालू|هذا|هذه"
        "|inneværende|nuværende|indeværende|aktuální|aktuálním|tuto|současný|současném|нынешний|нынешнем|текущего"
        "|şimdiki|현재",
        "next": "наступний|наступного|наступному|наступної|επόμενη|επόμενο|επόμενου|următoarea|următorul|următoarele"
        "|seuraava|seuraavan|seuraavassa|ensi|jövő|következő|अगले|अगली|अगला",
    },
    "relation_after": {
        "last": "trecut|trecută|trecutul|precedent|precedentă|anterior|anterioară|lalu|yang lalu|kemarin|terakhir"
        "|sebelumnya|trước|qua|vừa qua|vừa rồi|rồi|gần đây|gần nhất|الماضي|الماضية|الماضيين|السابق|السابقة|الفائت"
        "|المنصرم|الأخير|الأخيرة",
        "this": "ăsta|asta|acesta|aceasta|curent|curentă|ini|sekarang|berjalan|này|hiện tại|الحالي|الحالية|الجاري",
        "next": "viitor|viitoare|depan|berikutnya|tới|القادم|القادمة|المقبل|المقبلة",
    },
    "day": {
        0: "сьогодні|σήμερα|azi|astăzi|tänään|hari ini|hôm nay|आज|اليوم",
        -1: "вчора|учора|χθες|χτες|ieri|eilen|tegnap|kemarin|hôm qua|बीते कल|أمس|بالأمس|البارحة",
        -2: "позавчора|προχθές|προχτές|alaltăieri|toissapäivänä|tegnapelőtt|kemarin dulu|hôm kia|أول أمس|엊그제",
        1: "завтра|αύριο|mâine|huomenna|holnap|besok|ngày mai|غدا|غدًا|غداً",
        2: "післязавтра|μεθαύριο|poimâine|ylihuomenna|holnapután|lusa|ngày kia|بعد غد|послезавтра|모레",
    },
    "either_day": {"": "कल|परसों"},
    "number": {
        1: "один|одна|одну|ένα|έναν|μία|unu|yksi|yhden|egy|satu|một|एक",
        2: "дві|двох|δύο|δυο|două|doua|doi|kaksi|kahden|kahta|két|kettő|dua|hai|दो",
        3: "трьох|τρεις|τρία|τριών|trei|kolme|kolmen|három|tiga|ba|तीन|ثلاثة|ثلاث",
        4: "чотири|чотирьох|τέσσερις|τέσσερα|τεσσάρων|patru|neljä|neljän|négy|empat|bốn|चार|أربعة|أربع",
        5: "п'ять|п'яти|πέντε|cinci|viisi|viiden|öt|lima|năm|पांच|पाँच|خمسة|خمس",
        6: "шість|шести|έξι|șase|kuusi|kuuden|enam|sáu|छह|ستة|ست",
        7: "сім|семи|επτά|εφτά|șapte|seitsemän|hét|tujuh|bảy|सात|سبعة|سبع",
        8: "вісім|восьми|οκτώ|οχτώ|kahdeksan|nyolc|delapan|tám|आठ|ثمانية|ثماني",
        9: "дев'ять|εννέα|εννιά|nouă|yhdeksän|kilenc|sembilan|chín|नौ|تسعة|تسع",
        10: "десять|десяти|δέκα|zece|kymmenen|tíz|sepuluh|mười|दस|عشرة|عشر|deset|deseti",
    },
    "stretch": {
        "2 day": "يومين|اليومين",
        "2 week": "أسبوعين|الأسبوعين",
        "2 month": "شهرين|الشهرين",
        "2 year": "سنتين|عامين|السنتين|العامين",
    },
    "edge": {
        "start": "початок|початку|αρχή|αρχές|începutul|awal|đầu|بداية|مطلع|начало|начала|začátek|začátku|starten av"
        "|starten af",
        "middle": "середина|середини|середині|pertengahan|giữa|منتصف|середина|середины|середине",
        "end": "кінець|кінця|кінці|τέλος|τέλη|sfârșitul|akhir|cuối|نهاية|أواخر|конец|конца|конце|konec|konce|konci",
    },
    "edge_behind": {
        "start": "alussa|alkupuolella|elején|की शुरुआत में|की शुरुआत|başında|başlarında",
        "middle": "puolivälissä|közepén|के मध्य में|ortasında",
        "end": "lopussa|loppupuolella|végén|के अंत में|के आखिर में|sonunda|sonlarında",
    },
    "since_weekday": {
        0: "de luni|începând de luni",
        1: "de marți|keddtől",
        2: "de miercuri",
        3: "de joi",
        4: "de vineri",
        5: "de sâmbătă",
        6: "de duminică",
    },
    "since": {"": "з|із|зі|від|починаючи з|από|începând cu|începând din|sejak|từ|kể từ|منذ|ابتداء من|اعتبارا من"},
    "since_after": {
        "": "-tól|-től|-ától|-étől|-jétől|lähtien|alkaen|óta|से|से अब तक|से आज तक|से लेकर|'dan beri|'den beri|'tan beri"
        "|'ten beri|'dan itibaren|'den itibaren|'tan itibaren|'ten itibaren|'dan bu yana|'den bu yana|dan beri"
        "|den beri|이후에"
    },
    "before": {"": "перед|до|πριν|πριν από|înainte de|ennen|sebelum|trước|قبل"},
    "before_behind": {"": "előtt|से पहले|के पहले|'dan önce|'den önce|'tan önce|'ten önce|이전|전에"},
    "until": {
        "": "по|μέχρι|έως|ως|până|până la|până pe|până în|sampai|hingga|sampai dengan|đến|đến hết|tới|cho đến|حتى|لغاية"
    },
    "until_behind": {
        "": "asti|saakka|mennessä|-ig|-áig|-éig|-jéig|तक|'a kadar|'e kadar|'ya kadar|'ye kadar|'na kadar|'ne kadar"
        "|a kadar|e kadar|까지"
    },
    "after": {"": "після|μετά|μετά από|după|setelah|sesudah|sau ngày|sau hôm|بعد"},
    "after_behind": {"": "jälkeen|után|के बाद|'dan sonra|'den sonra|'tan sonra|'ten sonra"},
    "between": {"": "між|поміж|μεταξύ|ανάμεσα|între|antara|giữa|từ giữa|بين|ما بين"},
    "between_behind": {"": "között|välillä|के बीच|के बीच में|arasında|사이|사이에"},
    "from": {"": "з|із|зі|від|από|din|de la|dari|mulai|từ|من"},
    "to": {
        "": "по|до|έως|ως|μέχρι|până|până la|până pe|până în|sampai|hingga|sampai dengan|đến|đến hết|tới|से|-sta|إلى|الى"
        "|حتى"
    },
    "and": {"": "і|й|та|και|și|si|ja|és|dan|và|और|و|ile|와|과"},
    "ago": {"": "тому|în urmă|sitten|ezelőtt|lalu|yang lalu|trước|पहले"},
    "ago_before": {"": "πριν|πριν από|acum|cách đây|قبل"},
    "till_now": {"": "đến nay|cho đến nay|до сьогодні|până acum|sampai sekarang|hingga kini|حتى الآن"},
    "inclusive": {"": "включно|-ig|तक|까지"},
    "dia": {"": "ngày|tanggal|tgl|يوم"},
    "of": {"": "din|de la|του|της|των"},
    "bare_article": {"": "de la"},
    "fill": {
        "": "у|під час|протягом|впродовж|упродовж|τη|την|τον|το|τα|τις|τους|του|της|των|στις|στο|στη|στην|στον|κατά|în"
        "|din|de la|pe|pe data de|aikana|során|folyamán|pada|dalam|selama|tanggal|trong|vào|ngày|hôm|में|को|के|की|का"
        "|के दौरान|في|خلال|يوم|عن|během|во время|içinde|boyunca|에|에는|에서|동안|-sta|-án|-én|-jén|-a|-e|-i|-ai|-ei|'da"
        "|'de|'ta|'te"
    },
    # Romanian words with "mai", which is May only elsewhere.
    "other": {
        "": "ce mai|cine mai|mai multe|mai mult|mai mulți|mai puțin|mai puține|mai des|mai mare|mai vechi|mai noi"
    },
}


@lru_cache(maxsize=1)
def world_words() -> tuple[tuple[str, Word], ...]:
    """Every spelling of these languages with what it may stand for."""
    return (*names(), *_in_tables())


def _in_tables() -> Iterator[tuple[str, Word]]:
    for kind, table in _TABLES.items():
        yield from each_word(kind, table)
