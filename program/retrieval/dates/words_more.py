"""The commonest date words in Danish and Norwegian, Czech, Russian, Turkish and Korean; words of rarer forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Word(NamedTuple):
    """One thing that a word may stand for: its kind, and its value of that kind."""

    kind: str
    value: int | str


def each_word(kind: str, table: Mapping[int | str, str]) -> Iterator[tuple[str, Word]]:
    """Each spelling in a table, whose cells separate them by ``|``, with what it stands for."""
    for value, line in table.items():
        for surface in line.split("|"):
            yield " ".join(surface.split()), Word(kind, value)


_TABLES: dict[str, dict[int | str, str]] = {
    "month": {
        1: "leden|ledna|lednu|январь|января|январе|ocak",
        2: "únor|února|únoru|февраль|февраля|феврале|şubat",
        3: "marts|březen|března|březnu|март|марта|марте|mart",
        4: "duben|dubna|dubnu|апрель|апреля|апреле|nisan",
        5: "květen|května|květnu|май|мая|мае|mayıs",
        6: "červen|června|červnu|июнь|июня|июне|haziran",
        7: "červenec|července|červenci|июль|июля|июле|temmuz",
        8: "srpen|srpna|srpnu|август|августа|августе|ağustos",
        9: "září|сентябрь|сентября|сентябре|eylül",
        10: "říjen|října|říjnu|октябрь|октября|октябре|ekim",
        11: "listopadu|ноябрь|ноября|ноябре|kasım",
        12: "desember|prosinec|prosince|prosinci|декабрь|декабря|декабре|aralık",
    },
    "weekday": {
        0: "mandag|mandags|mandagen|pondělí|понедельник|понедельника|pazartesi|pazartesiden|월요일",
        1: "tirsdag|tirsdags|tirsdagen|úterý|вторник|вторника|salı|salıdan|화요일",
        2: "onsdag|středa|středu|středy|среда|среду|среды|çarşamba|çarşambadan|수요일",
        3: "torsdag|čtvrtek|čtvrtka|четверг|четверга|perşembe|perşembeden|목요일",
        4: "fredag|pátek|pátku|пятница|пятницу|пятницы|cuma|cumadan|금요일",
        5: "lørdag|lørdags|lørdagen|sobotu|суббота|субботу|субботы|cumartesi|cumartesiden|토요일",
        6: "søndag|søndags|søndagen|neděle|neděli|воскресенье|воскресенья|pazar|pazardan|일요일",
    },
    "unit": {
        "hour": "hodina|hodiny|hodin|час|часа|часов|saat|시간",
        "day": "dage|dager|dny|dní|dnech|день|дня|дней|gün|günde|günün|일",
        "week": "uge|ugen|uger|ugers|uke|uken|uker|týden|týdnu|týdny|týdnů|týdne|неделя|неделю|недели|недель|неделе"
        "|hafta"
        "|haftada|haftanın|haftadan|주",
        "weekend": "weekenden|helgen|helg|víkend|víkendu|выходные|выходных|hafta sonu|주말",
        "month": "måned|måneden|måneder|měsíc|měsíce|měsíci|měsíců|месяц|месяца|месяцев|месяце|ay|ayın|ayda|aydan|달"
        "|개월",
        "quarter": "kvartal|kvartalet|čtvrtletí|kvartál|kvartálu|квартал|квартала|квартале|çeyrek|çeyrekte|분기",
        "year": "år|året|rok|roku|roce|год|года|году|лет|yıl|yılın|yılda|년",
        "sprint": "sprinten|sprintu|sprinty|спринт|спринта|спринте|спринты|спринтов|sprintte|sprintten|스프린트",
    },
    "relation": {
        "last": "sidste|siste|forrige|seneste|minulý|minulém|minulého|minulou|posledních|poslední|posledním|прошлый"
        "|прошлая"
        "|прошлой|прошлом|прошлую|прошлого|последние|последних|последний|последнюю|последнем|geçen|son|önceki|지난|최근",
        "this": "denne|dette|tento|tomto|této|tohoto|этот|эта|эту|этой|этом|этого|текущий|текущем|текущего|bu"
        "|mevcut|이번",
        "next": "næste|neste|kommende|příští|příštím|следующий|следующая|следующей|следующем|следующую|gelecek"
        "|önümüzdeki"
        "|다음",
    },
    "day": {
        0: "i dag|dnes|сегодня|bugün|오늘",
        -1: "i går|včera|вчера|dün|어제",
        -2: "i forgårs|i forgars|předevčírem|позавчера|evvelsi gün|그저께",
        1: "i morgen|zítra|завтра|yarın|내일",
    },
    "number": {
        1: "en|et|én|ett|jeden|jedna|один|одна|одну|bir|한",
        2: "to|dva|dvě|dvou|два|две|двух|iki|두|이",
        3: "tre|tři|tří|три|трёх|трех|üç|세",
        4: "fire|čtyři|čtyř|четыре|четырёх|dört|네",
        5: "fem|pět|pěti|пять|пяти|beş|다섯",
        6: "seks|šest|šesti|шесть|шести|altı|여섯",
    },
    "ordinal": {
        1: "første|první|prvním|первый|первой|первом|первая|birinci|ilk",
        2: "anden|andet|druhý|druhém|второй|втором|ikinci",
        3: "tredje|třetí|třetím|третий|третьем|третьей|üçüncü",
        4: "fjerde|čtvrtý|čtvrtém|четвёртый|четвертом|четвертый|dördüncü",
    },
    "since": {"": "siden|fra og med|od|с|со|начиная с"},
    "since_after": {"": "beri|itibaren|bu yana|이후|부터|以来|から"},
    "before": {"": "før|inden|před|до|перед"},
    "after": {"": "efter|etter|po|после"},
    "until": {"": "indtil|inntil|til|до|по"},
    "between": {"": "mellem|mellom|mezi|между"},
    "from": {"": "fra|od|с|со"},
    "to": {"": "až|til|do|до|по"},
    "and": {"": "og|и|ve|ile|와|과"},
    "ago": {"": "siden|назад|önce|전"},
    "ago_before": {"": "před"},
    "fill": {"": "den|det|в|во|на|за|v|ve|의"},
}

_RARER: dict[str, dict[int | str, str]] = {
    "half": {1: "上半年|上半期", 2: "下半年|下半期"},
    "years_off": {-2: "前年|一昨年|おととし", -1: "i fjol|ifjol", 0: "i år"},
    "weekday_of_last": {
        n: "|".join(week + day for week in ("上周", "上星期", "上个星期", "上礼拜") for day in days)
        for n, days in enumerate(("一", "二", "三", "四", "五", "六", "日天"))
    },
    "unit_edge": {
        "month start": "月初|今月初|monatsanfang|monatsbeginn",
        "month middle": "月中",
        "month end": "月底|月末|今月末|monatsende",
        "quarter start": "quartalsanfang|quartalsbeginn",
        "quarter end": "quartalsende",
        "year start": "年初|今年初|年明け|jahresanfang|jahresbeginn",
        "year end": "年末|年底|jahresende",
    },
    "that_unit": {"week": "那周|那一周|那个星期|那个礼拜|の週|を含む週", "sprint": "那个冲刺|那个迭代|のスプリント"},
    "nth_unit": {"week": "週目|周目", "day": "日目"},
    "since_after": {"": "に入ってから|になってから|至今|到现在"},
    "happened": {
        "start": "began|begins|started|starts|kicked off",
        "end": "ended|ends|finished|finishes|was over",
    },
    "unit": {"week": "semaine ci", "month": "mois ci", "quarter": "trimestre ci"},
    "week_of": {"": "od"},
    "ending": {"": "ending|ending on|that ended on"},
    "dia": {"": "día|dia|dzień|dnia|días|dias|dni"},
    "slash": {"": "/"},
    "whole": {
        "": "full|complete|completed|whole|entire|calendar|finished|vollen|ganzen|complets|complètes|completos"
        "|completas|entiers|entières|enteros|enteras|inteiros|inteiras|interi|intere|volledige|hele|hela|całe|pełne|pełnych|terminés|terminées|terminados|terminati"
    },
    "half_behind": {1: "前半", 2: "後半"},
    # Weekdays that are also ordinals, and short ones that are other words: dates only where other words confirm it.
    "weekday_said": {
        0: "segunda|lun|mo|seg|pon|mån",
        1: "di|ter|wt|tis|mar",
        2: "quarta|mi|mié|mie|mer|wo|qua|śr|ons",
        3: "quinta|do|gio|jeu|jue|qui|czw|tors",
        4: "fr|ven|vie|vr|sex|pt|fre",
        5: "sábado|sa|sab|sáb|sam|za|sob|lör",
        6: "domingo|so|dom|dim|zo|nd|niedz|sön",
    },
    "weekday": {
        0: "segunda feira",
        1: "terça feira",
        2: "quarta feira",
        3: "quinta feira",
        4: "sexta feira",
    },
}


def more_words() -> Iterator[tuple[str, Word]]:
    """Every spelling of these languages with what it may stand for."""
    for tables in (_TABLES, _RARER):
        for kind, table in tables.items():
            yield from each_word(kind, table)
