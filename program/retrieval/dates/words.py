"""Date words in many languages, each with what it stands for.

One word may stand for several things ("vor" is before and ago, "a" is one, to, or a filling word); the grammar in
``forms.py`` takes the one that fits. English, German, French, Spanish, Portuguese, Italian, Dutch, Swedish, Polish,
Chinese and Japanese are here; the commonest words of Danish and Norwegian, Czech, Russian, Turkish and Korean are in
``words_more.py``, those of nine more in ``words_world.py``; in other languages only figures are understood.
"""

from __future__ import annotations

from ...text.number_words import SPELLED
from .names_world import OTHER_WORDS
from .ordinals import days_in_words
from .words_more import Word, each_word, more_words
from .words_world import world_words

_MONTHS: dict[int | str, str] = {
    1: "january|jan|januar|jänner|janvier|janv|ene|enero|janeiro|gennaio|januari|styczeń|stycznia|styczniu|一月",
    2: "february|feb|februar|feber|février|févr|fév|fev|lut.|febrero|fevereiro|febbraio|februari|luty|lutego|lutym"
    "|二月",
    3: "march|mar|märz|mars|marzo|março|maart|mrt|marzec|marca|marcu|三月",
    4: "april|apr|avril|avr|abr|kwi.|abril|aprile|kwiecień|kwietnia|kwietniu|四月",
    5: "may|mai|mayo|maio|maggio|mei|maj|maja|maju|五月",
    6: "june|jun|juni|juin|giu|cze.|junio|junho|giugno|czerwiec|czerwca|czerwcu|六月",
    7: "july|jul|juli|juillet|juil|lug|julio|julho|luglio|lipiec|lipca|lipcu|七月",
    8: "august|aug|août|agosto|augustus|augusti|sierpień|sierpnia|sierpniu|八月",
    9: "september|sept|sep|septembre|septiembre|setembro|settembre|wrzesień|wrz|września|wrześniu|九月",
    10: "october|oct|oktober|okt|octobre|ott|paź|octubre|outubro|ottobre|październik|października|październiku|十月",
    11: "november|nov|novembre|noviembre|novembro|listopad|lis|listopada|listopadzie|十一月",
    12: "december|dec|dezember|dez|décembre|déc|dic|diciembre|dezembro|dicembre|grudzień|gru|grudnia|grudniu|十二月",
}
_WEEKDAYS: dict[int | str, str] = {
    0: "monday|mon|montag|lundi|lunes|segunda-feira|lunedì|maandag|måndag|måndags|måndagen|poniedziałek|poniedziałku"
    "|poniedziałek|周一|星期一|礼拜一|月曜日|月曜",
    1: "tuesday|tue|tues|dienstag|mardi|martes|terça-feira|terça|martedì|dinsdag|tisdag|tisdags|tisdagen|wtorek"
    "|wtorku"
    "|周二|星期二|礼拜二|火曜日|火曜",
    2: "wednesday|wed|weds|mittwoch|mercredi|miércoles|quarta-feira|mercoledì|woensdag|onsdag|onsdags|onsdagen"
    "|środa|środy|środę"
    "|周三|星期三|礼拜三|水曜日|水曜",
    3: "thursday|thu|thur|thurs|donnerstag|jeudi|jueves|quinta-feira|giovedì|donderdag|torsdag|torsdags"
    "|torsdagen|czwartek"
    "|czwartku|周四"
    "|星期四|礼拜四|木曜日|木曜",
    4: "friday|fri|freitag|vendredi|viernes|sexta-feira|sexta|venerdì|vrijdag|fredag|fredags|fredagen|piątek"
    "|piątku|周五|星期五"
    "|礼拜五|金曜日|金曜",
    5: "saturday|sat|samstag|sonnabend|samedi|sábado|sabato|zaterdag|lördag|lördags|lördagen|sobota|sobotę"
    "|soboty|周六|星期六"
    "|礼拜六|土曜日|土曜",
    6: "sunday|sun|sonntag|dimanche|domingo|domenica|zondag|söndag|söndags|söndagen|niedziela|niedzielę"
    "|niedzieli|周日|星期日"
    "|星期天|礼拜天|日曜日|日曜",
}
_UNITS: dict[int | str, str] = {
    "hour": "hour|hours|stunde|stunden|heure|heures|hora|horas|ora|ore|uur|uren|timme|timmar|godzina|godzin|小时|時間"
    "|half hour|half-hour|half an hour|halbe stunde|halben stunde|demi-heure|media hora|meia hora|mezz'ora|halfuur"
    "|half uur|halvtimme|halvtimmen|pół godziny|半小时|半時間",
    "minute": "minute|minutes|mins|minuten|minuto|minutos|minuti|minuut|minuter|minut|minuty|分钟|分間",
    "day": "day|days|working days|working day|business day|workday|business days|workdays|weekdays"
    "|arbeitstage|arbeitstagen|werktage|jours ouvrés"
    "|días hábiles|tag|tage|tagen|jour|jours|día|días|dia|dias|giorno|giorni|giorni lavorativi|dag|dagen|dagar"
    "|dagarna|dzień|dni|dniach"
    "|天|日間|日",
    "week": "week|weeks|calendar week|wk|wks|cw|woche|wochen|kalenderwoche|kw|semaine|semaine-ci|semaines"
    "|semana|semanas"
    "|settimana"
    "|settimane|weken|vecka|veckan|veckor|veckorna|tydzień|tygodniu|tygodniach|tygodnia|tygodni|tygodnie|周|星期|个星期|週"
    "|週間",
    "fortnight": "fortnight|fortnights|quinzaine|quincena|quinzena",
    "weekend": "weekend|weekends|week-end|wkend|wochenende|finde|fin de semana|fim de semana|helg|helgen|周末|週末",
    "month": "month|months|mth|mths|mnth|mnths"
    "|monat|monats|monate|monaten|mois|mois-ci|mes|meses|mês|mese|mesi|maand|maanden"
    "|månad|månaden"
    "|månader|månaderna|miesiąc|miesiącu|miesiącach|miesiąca|miesiące|miesięcy|个月|月|か月|ヶ月",
    "quarter": "quarter|quarters|qtr|qtrs|quartal|quartals|quartale|quartalen|trimestre|trimestre-ci|trimestres"
    "|trimestri|kwartaal"
    "|kwartalen|kvartal|kvartalet|kwartał|kwartale|kwartału|季度|四半期",
    "half": "half year|half-year|half a year|halbjahr|halbjahrs|halbes jahr|halben jahr|halbe jahr|semestre|medio año"
    "|meio ano|semestri|mezzo anno|half jaar|halvår|halvåret|półrocze|pół roku|półrocza|半年",
    "year": "year|years|yr|yrs|jahr|jahres|jahre|jahren|an|ans|année|années|año|años|ano|anos|anno|anni|jaar|jaren|år"
    "|året|rok|roku|lat|lata|年",
    "sprint": "sprint|sprints|sprinten|sprintar|sprintarna|sprintach|sprinty|sprintu|sprincie|冲刺|个冲刺|迭代|个迭代"
    "|スプリント",
}
_RELATIONS: dict[int | str, str] = {
    "last": "last|most recent|most recently completed|last completed|previous|prev|prior|preceding|letzte"
    "|letzten|letzter|letztes|letztem|vergangene|vergangenen|vorige"
    "|vorigen|voriges|dernier|dernière|derniers|dernières|précédent|précédente|pasado|pasada|pasados"
    "|pasadas|último|última|últimos|últimas|anterior|anteriores|passado|passada|passados|passadas|scorso|scorsa"
    "|scorsi|scorse|ultimo|ultima|ultimi|ultime|afgelopen|laatste|vorig|förra|senaste|zeszły|zeszłym|zeszłego"
    "|zeszła|ubiegły|ubiegłym|ubiegłych|minionym|minionych|minionego|ostatni|ostatnia|ostatnie|ostatnich"
    "|ostatnim|ostatniego|ostatniej|poprzedni|poprzednim|poprzedniego|poprzednia|poprzedniej|poprzednich|昨|近|去"
    "|上|上个|上一个"
    "|最近|过去|過去|先|前|前回の|直近",
    "past": "past|this past|this last|rolling|trailing|ここ|この",
    "this": "this|current|present|ongoing|diese|diesen|dieser|dieses|diesem|aktuelle|aktuellen|aktueller|laufende"
    "|laufenden|ce|cette|actuel|actuelle|este|esta|deste|desta|neste|nesta|quest'|quest’|actual|atual|questo"
    "|questa|corrente|attuale|deze|dit|huidige"
    "|denna|detta|den här|det här|nuvarande|pågående|ten|tym|tego|ta|tej|bieżący|bieżącym|bieżącego|obecny|obecnym"
    "|本|这|这个|当前|今|現在の|今の",
    "next": "next|nxt|coming|upcoming|following|nächste|nächsten|nächster|nächstes|nächstem|kommende|kommenden"
    "|prochain|prochaine|próximo|próxima|prossimo|prossima|volgende|volgend|komende|nästa|kommande|następny"
    "|następnym|następnego|przyszły|przyszłym|przyszłego|下|下个|下一个|来|次の",
}
_RELATIONS_AFTER: dict[int | str, str] = {
    "last": "dernier|dernière|derniers|dernières|passé|passée|passés|passées|précédent|précédente|pasado|pasada"
    "|pasados|pasadas|anterior|anteriores|passado|passada|passados|passadas|scorso|scorsa|scorsi|scorse|precedente"
    "|ubiegły|ubiegłego|zeszły",
    "this": "actuel|actuelle|en cours|actual|en curso|atual|em curso|corrente|in corso",
    "next": "prochain|prochaine|prochains|próximo|próxima|que viene|que vem|prossimo|prossima",
}
_DAYS: dict[int | str, str] = {
    0: "today|tonight|this morning|this afternoon|this evening|heute|aujourd'hui|aujourd’hui|hoy|hoje|oggi|vandaag"
    "|idag|i dag|dzisiaj|dziś|今天|今日|本日",
    -1: "yesterday|yday|last night|gestern|hier|ayer|ontem|ieri|gisteren|igår|i går|wczoraj|昨天|昨日",
    -2: "day before yesterday|the day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer|anteontem"
    "|l'altro ieri|eergisteren|i förrgår|antier|avant hier|przedwczoraj|前天|一昨日|おととい",
    -3: "大前天|一昨々日|さきおととい",
    3: "大后天|明々後日|しあさって",
    1: "tomorrow|morgen|demain|mañana|amanhã|domani|imorgon|i morgon|jutro|明天|明日",
    2: "day after tomorrow|the day after tomorrow|übermorgen|après-demain|pasado mañana|后天|明後日",
}
_NUMBERS: dict[int | str, str] = {
    1: "one|a|an|ein|eine|einer|einem|einen|un|une|una|uno|um|uma|een|en|ett|jeden|jedna|一",
    **SPELLED,
    2: f"a couple of|couple of|couple|both|beiden|{SPELLED[2]}",
    3: "few|a few|several|the few|einige|einigen|ein paar|paar|quelques|unos|pocos|alguns|poucos|alcuni|enkele|några"
    f"|kilka|kilku|几|数|{SPELLED[3]}",
    14: "fourteen|vierzehn|quatorze|catorce|quattordici|veertien|fjorton|czternaście|czternastu|quinze jours",
    15: "fifteen|fünfzehn|quinze|quince|quindici|vijftien|femton|piętnaście|piętnastu",
    20: "twenty|zwanzig|vingt|veinte|vinte|venti|twintig|tjugo|dwadzieścia|dwudziestu",
    30: "thirty|dreißig|trente|treinta|trinta|trenta|dertig|trettio|trzydzieści|trzydziestu|三十",
}
_ORDINALS: dict[int | str, str] = {
    1: "first|1st|ersten|erstes|erste|premier|première|premiers|premières|primeros|primeras|primi|prime|primer"
    "|primero|primera|primeiro|primeira|primeiros|primeiras|primo|prima|eerste"
    "|första|pierwszy|pierwsza|pierwsze|pierwszym|pierwszej|pierwszych|第一",
    2: "second|zweiten|zweites|zweite|deuxième|segundo|segunda|secondo|seconda|tweede|andra"
    "|drugi|druga|drugim|drugiej|ii|第二",
    3: "third|dritten|drittes|dritte|troisième|tercer|tercero|tercera|terceiro|terceira|terzo|terza|derde"
    "|tredje|trzeci|trzecia|trzecim|iii|第三",
    4: "fourth|vierten|viertes|vierte|quatrième|cuarto|cuarta|quarto|quarta|vierde"
    "|fjärde|czwarty|czwarta|czwartym|iv|第四",
    5: "fifth|cinquième|quinto|femte|piąty",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    10: "tenth",
    11: "eleventh",
    12: "twelfth",
    13: "thirteenth",
    14: "fourteenth",
    15: "fifteenth",
    20: "twentieth",
    30: "thirtieth",
    -1: "final|very last|最后|最後の|最后的|最終",
}
_SIGNS: dict[int | str, str] = {
    "since": "since|as from|on or after|starting in|starting from|beginning in|ever since|as of|starting"
    "|commencing from"
    "|beginning|not before"
    "|no earlier than|not earlier than|fr.o.m.|från och med|seit|ab|depuis|desde"
    "|a partir de|à partir de|à partir du|a partir del|a partir do|dal|dalla"
    "|dall'|dall’|sinds"
    "|vanaf"
    "|sedan|od|自从|自|以来|から",
    "before": "leading up to|right before|just before|previas al|previos al|previas a|previos a|anterior a"
    "|anteriores al"
    "|anteriores a|anterior al"
    "|prima dello|prima dell'|より前|before|earlier than|prior to|vor|avant|antes de|antes del|antes do|antes da"
    "|prima di|prima del"
    "|prima della|voor|vóór|före|innan|przed|以前|之前",
    "until": "until|on or before|till|til|up to and including|not after|no later than|not later than"
    "|upto|uptil|up till|entro|entro il|entro la|bis einschließlich|bis einschl.|t/m|t.o.m.|till och med|spätestens"
    "|au plus tard"
    "|a más tardar|up to|up until|through|by|bis|bis zum|jusqu'à|jusqu'au|jusqu’à|jusqu’au|hasta"
    "|hasta el|até|até o|fino a|fino al|tot|tot en met|fram till|do|截至|到|まで|までに",
    "after": "posterior al|posterior a|right after|just after"
    "|posteriores al|dopo lo|dopo l'|より後|after|later than|following|nach|après"
    "|después de|después del|depois de|depois do|depois da|dopo"
    "|dopo il|na|efter|po|之后|以后",
    "between": "between|zwischen|entre|tra|fra|tussen|mellan|między|pomiędzy|介于",
    "from": "from|vanaf|ab|fr.o.m.|från och med|dall'|dall’|von|vom|du|de|del|desde|da|dal|dalla|van|från|od|从|自",
    "to": "to|till|til|until|through|thru|through to|thru to|t.o.m.|up to|up to and including|upto|fram till|t/m|bis"
    "|bis zum|au|à|al|a|ao"
    "|até|hasta|tot|tot en met|do|al"
    "|到|至|から"
    "|-|–|—|~|〜",
    "and": "and|&|a|und|et|y|e|en|och|i|oraz|和|与|と",
    "ago": "ago|back|geleden|sedan|temu|fa|atrás|前|之前|以前",
    "ago_before": "vor|il y a|hace|há|faz",
    "older": "seit mehr als|seit über|desde hace más de|há mais de|da più di|sedan mer än|od ponad|older than"
    "|more than|longer than|over|at least|mindestens|au moins|al menos|pelo menos|almeno"
    "|minstens|older as|older then|älter als|mehr als|länger als|plus vieux que|plus de"
    "|depuis plus de|más antiguos que|más de|mais antigos que|mais de|più vecchi di|più di|ouder dan|langer dan"
    "|äldre än|mer än|starsze niż|ponad|超过",
    "newer": "not older than|no older than|at most|no more than|höchstens|au plus|como máximo|no máximo"
    "|newer than|younger than|less than|within|within the last|neuer als|jünger als|innerhalb der|moins de"
    "|menos de|meno di|nieuwer dan|nyare än|nowsze niż|不到",
    "old": "old|alt|días de antigüedad|oud|gammal|gamla",
    "now": "now|today|right now|jetzt|heute|maintenant|aujourd'hui|ahora|hoy|agora|hoje|adesso|oggi|nu|vandaag"
    "|idag|i dag|teraz|dziś|dzisiaj|现在|今天|今",
    "before_last": "second to last|second-to-last|next to last|next-to-last|penultimate|last but one"
    "|vorletzte|vorletzten|vorvorletzte|avant-dernier|avant-dernière|penúltimo|penúltima"
    "|penultimo|penultima|voorlaatste|näst sista|vorletzter|vorletztes|vorletztem|last to last|antepasada|antepasado"
    "|przedostatni|上上|上上个|先々|前々|前々回の|前々回",
    "previous": "the one before|the one before it|the one before that|the previous one|the prior one|den davor"
    "|dem davor|der davor|das davor|le précédent|la précédente|celui d'avant|el anterior|la anterior|o anterior"
    "|a anterior|quello prima|quella prima|die ervoor|de vorige|den innan|poprzedni|poprzednim|前一个|その前",
    "subsequent": "the one after|the one after it|the one after that|the next one|the following one"
    "|den danach|dem danach|der danach|das danach|le suivant|la suivante|el siguiente|la siguiente|o seguinte"
    "|a seguinte|quello dopo|quella dopo|die erna|den efter|后一个|その次",
    "feast": "black friday|good friday|palm sunday|easter sunday|easter monday|ash wednesday|karfreitag|ostermontag"
    "|rosenmontag|vendredi saint|lundi de pâques|viernes santo|chinese new year|lunar new year|diwali|hanukkah|passover"
    "|pentecost|whitsun|pfingsten|pentecôte|春节|春節|旧正月|설날|感恩节",
    "to_date": "en lo que va de|en lo que va del|to date|so far|bisher|jusqu'ici|hasta ahora|até agora|finora"
    "|tot nu toe|hittills",
    "week_from": "w/c|w/c.",
    "minus": "-|−|minus",
    "ahead": "dans|dentro de|daqui a|fra|tra|om|za|через",
    "week_of": "that began on|that started on|that began|that started|that starts|which began on|which started on"
    "|starting|beginning|commencing|ending|from|vom|ab|du|del|do|dal"
    "|van|from the|starting on|ending on",
    "onward": "on|onward|onwards|forward|an|en adelante|em diante|in poi|och framåt",
    "tod": "morning|mornings|noon|afternoon|afternoons|evening|evenings|night|nights|morgens|früh|morgen|vormittag"
    "|mittag"
    "|nachmittag|abend|nacht|matin|midi|après-midi|soir|nuit|por la mañana|por la tarde|por la noche|de manhã|à tarde"
    "|à noite|mattina|pomeriggio|sera|notte|ochtend|middag|avond|morgonen|på morgonen|kväll|på kvällen|natt|rano"
    "|po południu|wieczorem|wieczór|早上|上午|中午|下午|晚上|夜里|朝|午前|午後|夜|夕方",
    "of": "dell'|dell’|nell'|nell’|of|in|im|von|vom|des|der|de|del|du|d'|d’|da|do|dos|di|della|dello|van|av|i|w"
    "|z|的|の",
    "of_strict": "of|von|vom|de|del|do|di|av",
    "half_part": "halvan|quinzaine|quincena|quinzena|half|hälfte|moitié|mitad|metade|metà|helft|hälften|połowa"
    "|połowie|połowę",
    "bare_article": "the|der|des|dem|den|le|la|el|il|het|de|du|du|del|do|da|della|本",
    "till_now": "till date|to date|til date|todate|hasta la fecha",
    "inclusive": "inclusive|incl.|之间|之間|の間|included|both included|inclus|incluido|incluidos|einschließlich"
    "|inklusive|włącznie|compreso|inbegrepen|inclusief",
    "or_later": "or later|or newer|or after|and later|and onwards|et après|und später"
    "|y posteriores|oder später|ou plus tard|o más tarde|起|开始|以降",
    "or_earlier": "or earlier|or older|or before|and earlier|at the latest|oder früher"
    "|ou avant|o antes"
    "|spätestens|au plus tard|a más tardar|no máximo|al più tardi|uiterlijk|senast|najpóźniej",
    "fill": "dell'|dell’|nell'|nell’|份|the|of|,|full|complete|entire|calendar|ganzen|volle|vollen|complètes|completas"
    "|der|die|das|den|dem|des|am|im|le|la|les|l'|l’|el|los|las|lo|o|os|as|il|gli|i|de|del|do|da"
    "|dos|d'|di|van|het|det|av|w|we|的|の|ce|cet|en|no|na|em|zum|zur|vom|dnia|den",
}
_EDGES: dict[int | str, str] = {
    "start": "start of|start of the|beginning of|beginning of the|the start of|early|early in|early on in|anfang"
    "|anfang des"
    "|beginn|début|au début de|au début du|début de|début du|principios de|a principios de|comienzos de|inicio de"
    "|inicios de|início de|início do|início da|começo de|inizio di|inizio|all'inizio di|begin|begin van|början av"
    "|i början av"
    "|początek|początku|na początku|初|初頭|上旬",
    "middle": "mid|mi|middle of|the middle of|middle of the|mitte|mitte des|mediados de|a mediados de|meados de|metà"
    "|medio|midden|mitten av|i mitten av|połowa|połowie|w połowie|中旬|半ば",
    "end": "end|end of|end of the|the end of|late|late in|ende|ende des|fin|fin de|fin du|la fin de|la fin du"
    "|finales de"
    "|a finales de|fines de|final de|finais de|fim de|fim do|fim da|no fim de|fine di|fine|alla fine di|eind|einde"
    "|einde van"
    "|eind van|slutet av|i slutet av|koniec|końcu|pod koniec|końca|末|底|下旬",
    "whole": "earlier|earlier in|later|later in",
}
_ALONE: dict[int | str, Word] = {"weekend": Word("weekend", ""), "half": Word("half_year_word", "")}
"""Units that are a period without a word before them."""
_FIXED: dict[int | str, str] = {
    "1-1": "new year|new year's|new year's day|neujahr|nouvel an|año nuevo|ano novo|capodanno|nieuwjaar|nyår"
    "|nowego roku|元旦",
    "1-6": "epiphany|reyes|epifanía|epifania|dreikönigstag",
    "2-14": "valentine's day|valentinstag|saint-valentin|san valentín|san valentino",
    "2-29": "leap day|schalttag",
    "5-1": "may day|tag der arbeit",
    "8-15": "ferragosto",
    "10-1": "国庆|国庆节",
    "10-31": "halloween|hallowe'en",
    "11-5": "guy fawkes|guy fawkes night|bonfire night",
    "12-24": "la veille de noël|veille de noël|julafton|vigilia di natale|véspera de natal"
    "|christmas eve|xmas eve|heiligabend|nochebuena|wigilii",
    "12-25": "christmas|christmas day|xmas|weihnachten|noël|navidad|natal|natale|kerst|bożego narodzenia"
    "|圣诞节|クリスマス",
    "12-31": "new year's eve|new years eve|silvester|nochevieja|oudejaarsdag|nyårsafton|sylwestra"
    "|sylwester|san silvestro|réveillon",
}
"""Feasts on the same day every year. By themselves they are mostly good wishes, so they are dates only in a bound."""
_LENGTHS: dict[int | str, str] = {
    "2 day": "due giorni",
    "2 week": "due settimane",
    "2 month": "due mesi",
    "2 year": "due anni",
}
"""Numbers with their unit, since the number alone is a word of another language (*due last week*)."""
_YEAR_TO_DATE: dict[int | str, str] = {"year": "ytd", "quarter": "qtd", "month": "mtd", "week": "wtd"}
FIRM = OTHER_WORDS | frozenset(
    "mon tue wed thu fri sat sun may mart march mars mai sept mar maj mei dez jun lis gru"
    " dic lug giu abr ene avr mrt fev ott an set".split()
)
"""Months and weekdays that are other words, too; alone and in lower case they are not taken for dates."""


def _pairs() -> list[tuple[str, Word]]:
    tables = {
        "month": _MONTHS,
        "weekday": _WEEKDAYS,
        "unit": _UNITS,
        "relation": _RELATIONS,
        "relation_after": _RELATIONS_AFTER,
        "day": _DAYS,
        "number": _NUMBERS,
        "ordinal": _ORDINALS,
        "edge": _EDGES,
        "so_far": _YEAR_TO_DATE,
        "stretch": _LENGTHS,
        "fixed": _FIXED,
    }
    pairs = [*more_words(), *days_in_words()]
    pairs += [pair for kind, table in tables.items() for pair in each_word(kind, table)]
    for value, line in _SIGNS.items():
        pairs += [(" ".join(surface.split()), Word(str(value), "")) for surface in line.split("|")]
    return pairs


def world_only() -> frozenset[str]:
    """The spellings that stand only in ``words_world.py``."""
    return frozenset(surface for surface, _ in world_words()) - {surface for surface, _ in _pairs()}


def date_words() -> dict[str, frozenset[Word]]:
    """Every spelling, in lower case, with all that it may stand for."""
    found: dict[str, set[Word]] = {}
    for surface, word in (*_pairs(), *world_words()):
        found.setdefault(surface, set()).add(word)
    for words in found.values():
        words |= {_ALONE[word.value] for word in words if word.kind == "unit" and word.value in _ALONE}
    return {surface: frozenset(words) for surface, words in found.items()}
