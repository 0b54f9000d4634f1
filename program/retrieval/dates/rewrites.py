"""Rewrites of abbreviated and reordered date phrases into their full form, for ``written_out.py``.

Spelling comes first, then word order. Abbreviations of months and of units are separate tables, since a short word may
be either (*30 sett*, *2 sett*). The grammar of dates does not depend on the language, so a rewritten phrase may mix two
languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .stories import denies
from .tokens import tokens_of

Rule = tuple[str, "str | Callable[[re.Match[str]], str]"]
"""A pattern, which is compiled when first used, and its replacement."""

_ENGLISH_MONTHS = "january february march april may june july august september october november december".split()
_CHINESE = "一二三四五六七八九"
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|okt|dez|ene|abr|ago|dic|fév|avr|août|déc|set|out|gen|mag)"
)
_PARTS = "(?:kwarta|połow|polow|trim|semestr|tydz|kvartal|quart|halvår|hälft|helft|semana|settimana|metà|metade|moiti)"
"""Beginnings of words for a part of a period, which a figure before them numbers: *3 kwartał*."""
_COUNT = r"(?:\d{1,3}|two|three|four|five|six)"
_JOINT = r"(?:to|and|bis|und|à|a|al|ao|y|e|et|do|i|tot|en|till|och|through|thru|-|–)"
_FROM = r"(?:from|between|von|zwischen|de|du|des|entre|od|del|da|van|från|tussen|mellan|między)"
_BEFORE_A_DAY = frozenset(
    "od do i a und bis vom von am den dem til fra ab seit nach zwischen między pomiędzy przed po zw mo di mi fr sa"
    " so pn wt śr sr czw pt sob nd".split()
)
"""Words that make *3.11* behind them a day, in languages that write days so."""


def _day_and_month(match: re.Match[str]) -> str:
    """*7.11.* as *7 november*; anything else stays."""
    before = re.search(r"(\w+) *$", match.string[: match.start()])
    alone = before is None and match.end() == len(match.string)
    if alone or (before is not None and before[1].casefold() not in _BEFORE_A_DAY):
        return match[0]  # "python 3.11", "1.5"
    month = int(match[2])
    return f"{match[1]} {_ENGLISH_MONTHS[month - 1]}" if 1 <= month <= 12 and int(match[1]) <= 31 else match[0]


def _neighbours(match: re.Match[str]) -> str:
    """*22 and 23* as a range, where the one follows the other."""
    return f"{match[1]} - {match[2]}" if int(match[2]) == int(match[1]) + 1 else match[0]


_WEEKDAYS = tuple(
    (day, re.compile(rf"(?:{cut})\.?", re.IGNORECASE))
    for day, cut in (
        ("monday", "mo|lun|seg|ma|mån|pn|pon|mon"), ("tuesday", "di|mar|ter|tis|wt|tues?"),
        ("wednesday", "mi|mer|mié|mie|qua|wo|ons|śr|sr|wed"), ("thursday", "do|jeu|jue|gio|qui|tors?|czw|thu(?:rs?)?"),
        ("friday", "fr|ven|vie|sex|vr|fre|pt|fri"), ("saturday", "sa|sam|sáb|sab|za|lör|sob|sat"),
        ("sunday", "so|dim|dom|zo|sön|nd|niedz|sun"),
    )
)  # fmt: skip
_KANJI = dict(zip("月火水木金土日", (day for day, _ in _WEEKDAYS), strict=True))


def _aside(match: re.Match[str]) -> str:
    """What stands in brackets is left out if it has no word of dates and denies nothing."""
    tokens = tokens_of(match[1])
    return match[0] if denies(tokens) or any(token.words for token in tokens) else ""


def _weekdays(match: re.Match[str]) -> str:
    """*mån-ons* as a range of whole words; anything else stays."""
    said = [next((day for day, cut in _WEEKDAYS if cut.fullmatch(end)), None) for end in match.groups()]
    return f"{said[0]} to {said[1]}" if None not in said else match[0]


def _two_days(match: re.Match[str]) -> str:
    """*The weekend of 25-26 October* is these two days."""
    return "" if int(match[2]) == int(match[1]) + 1 else match[0]


def _sprints_ending(match: re.Match[str]) -> str:
    return f"sprint {int(match[2]) - int(match[1]) + 1} to sprint {match[2]}"


def _sprint_beside(match: re.Match[str]) -> str:
    number = int(match[1])
    first, last = sorted((number, number - 1 if match[2].casefold() == "before" else number + 1))
    return f"sprint {first} to sprint {last}"


def _before_in_chinese(match: re.Match[str]) -> str:
    count = match[2] if match[2].isdigit() else str("一两三四五六".find(match[2].replace("二", "两")) + 1)
    return f"the {count} {'days' if match[3] == '天' else 'weeks'} before {match[1]}"


def _counts_down(match: re.Match[str]) -> str:
    first, second = sorted((int(match["a"]), int(match["b"])), reverse=True)
    return f"between {first} and {second} {match['unit']} ago"


SPELLING: tuple[Rule, ...] = (
    (r"\s*[(（]([^()（）\d]*)[)）]", _aside),
    (r", an? (?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?", ""),
    (r"(?<=\d)(st|nd|rd|th|º|ª)\s?[-–—]\s?(?=\d)", r"\1 - "),
    (rf"\b(\d{{1,2}})-({_MONTH}[a-z]*)-['’]?(\d\d)(?!\d)", r"\1 \2 20\3"),
    (rf"\b({_MONTH}[a-z]*\.? )(\d{{1,2}})/(\d{{1,2}})\b", lambda m: m[1] + f"{m[2]} - {m[1]}{m[3]}"),
    (rf"\b(\d{{1,2}})/(\d{{1,2}})(?= (?:of |de |di )?{_MONTH})", _neighbours),
    (
        r"\b(\d{1,2})(?:st|nd|rd|th|\.)? (?:and|&|und|et|y|e|en|och|i) (\d{1,2})(?:st|nd|rd|th|\.)?(?= [^\W\d])",
        _neighbours,
    ),
    (r"\b(?:el |le |la |das |het |den )?(?:weekend|week-end|w/end|wk?nd|wkend|finde|fin de semana"
        r"|fim de semana|wochenende|helgen) "
          r"(?:of|from|del|de|du|vom|van|do|från) (?=(?:[^\W\d]+ )?(\d{1,2}) ?[-–/] ?(\d{1,2})(?!\d))", _two_days),
    (rf"\b(\d{{1,2}}\.? {_MONTH}[a-z]*)\.? ['’]?([2-4]\d)$", r"\1 20\2"),
    (r"\b[sS](?:pr)?\.? ?#?(\d\d)\b(?!\d|\.|/)", r"sprint \1"),
    (r"(?:^|(?<=day )|(?<=och ))v(?:\. ?| )(\d{1,2})\b(?!\.\d)", r"week \1"),
    (
        r"(?<![^\W\d])([^\W\d]{2,5}\.?) (?:bis|au|à|al|a|t/m|tot|till|do|to|until) ([^\W\d]{2,5}\.?)(?![^\W\d])",
        _weekdays,
    ),
    (r"(?<![^\W\d])([^\W\d]{2,5}\.?)\s?[-–]\s?([^\W\d]{2,5}\.?)(?![^\W\d])", _weekdays),
    (
        r"^(.+?)の?([月火水木金土日])[〜~～-]([月火水木金土日])曜?日?$",
        lambda m: f"{_KANJI[m[2]]} to {_KANJI[m[3]]} of {m[1]}",
    ),
    (r"\b((?:\d+|one) (?:months?|years?)) ago to the day\b", r"\1 ago today"),
    (r"\b(\d+) weeks? ago to the day\b", lambda m: f"{7 * int(m[1])} days ago"),
    (r"(?<![\d.,])(\d{1,2})\.(\d{1,2})\.?(?![\d.]|,\d)", _day_and_month),
    (r"\b(\d{1,2})(?:ere|ère|re|ro|ra|do|da|to|ta|eme|ème)\b\.?", r"\1."),
    (rf"\b([1-9])[aoeº°ª]?\.? (?={_PARTS})", r"\1. "),
    (r"(?<=\d{4}) (?:r|roku|г)\b\.?$", ""),
    # A weekday beside its day is left out. "Do" is not taken for one: it is "until" in Polish and "of" in Portuguese.
    (
        r"\b(?:mo|di|mi|fr|sa|so|lun|mar|mer|mié|mie|jeu|jue|gio|ven|vie|sam|sáb|sab|dim|dom|seg|ter|qua|qui|sex|ma|wo|vr"
        r"|za|zo|mån|tis|ons|tors?|fre|lör|sön|pn|pon|wt|śr|sr|czw|pt|sob|nd|niedz|mon|tues?|wed|thur?s?|fri|sat|sun)"
        r"\b\.?,? "
        r"(?!\d{1,2} (?:day|week|wk|month|sprint|hour|woche|tag|jour|semain|día|dia|giorn|settiman|dag|vecko|dni|tyg))"
        r"(?=\d{1,2}(?!\d).*?(?:[./]\d|[^\W\d]{3}))",
        "",
    ),
    (r"\b(?:b4|bfr)\b", "before"),
    (r"\bbtwn\b", "between"),
    (r"\bfrm\b", "from"),
    (r"\b(til|till|until|to|through|up to) (.+) (?:ended|finished|was over)$", r"\1 \2"),
    (r" or any (?:later|following) day$", " onwards"),
    (r"\b(sprint) that ended (?:on )?(?=\D*\d)", r"\1 of "),
    (r"^heute vor (?=.*tag)", "vor "),
    (r"\b([12])(?:st|nd|er|ère|[ºªae.])? sem\.? (?:de |of |in )?(20\d\d)\b", r"H\1 \2"),
    (
        r"^(.+?),? (?:(?:solo|only|just|nur|bara|alleen) )?((?:mon|tues|wednes|thurs|fri|satur|sun)day to "
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)$",
        r"\2 of \1",
    ),
    (r"\bt([1-4])(?= (?:de|del|da|do|of|20\d\d))", r"Q\1"),
    (
        r"(?<!\d)(\d{1,2}) (?:deste|de este|dieses|di questo|van deze|de ce|den här) "
        r"(?:mês|mes|monats|mese|maand|mois|månaden)\b",
        r"\1th of this month",
    ),
    (r"\bsprint (?:numero|número|numéro|nummer|number|num|no|nr|nº)\.? (?=\d)", "sprint "),
    (
        r"^((?:na|after|since|sinds|seit|nach|depuis|après|desde|después de|dopo|od|po|sedan|efter)\b.+) "
        r"(?:tot nu|until now|till now|til now|bis heute|bis jetzt|jusqu['’]à maintenant|hasta ahora|até agora"
        r"|fino ad oggi|do teraz|fram till nu)$",
        r"\1",
    ),
    (r"(?:也就是|就是|即)(?=.*\d)", ", "),
    (r"^(.+?)(?:之前|以前)的?([两二三四五六]|\d+)个?(周|天|星期)$", _before_in_chinese),
    (r"\bzw\b\.?", "zwischen"),
    (r"\bup to (?:\+|and|&) incl(?:uding)?\b\.?", "up to"),
    (r"\bbis (?:spätestens|einschließlich|inklusive|maximal|zum)\b", "bis"),
    (r"\b(?:bis )?(?:einschl|inkl|incl)\b\.?", lambda m: "bis" if m[0].casefold().startswith("bis") else ""),
    (r"\bdallo\b", "dal"),
    (r"^(?:sen|apartir de|fr\.o\.m\.?)(?= )", "since"),
    (r"(?<= )t\.?o\.?m\.?(?= )", "until"),
    (r"^y a (?=\d)", "il y a "),
    (r"^going back (?=\d)", "last "),
    (r"(?<!no )(?<!not )(?<!never )\b(?:newer|later|more recent) than ", "after "),
    (r"(?<!no )(?<!not )(?<!never )\b(?:older|earlier) than ", "before "),
    (r"^((?:everything|anything|all|stuff) )?post[ -](?=\d)", r"\1after "),
    (r"^((?:everything|anything|all|stuff) )?pre[ -](?=\d)", r"\1before "),
    (r"(?<=s) (?:preceding|prior to|leading up to) ", " before "),
    (r",? but (?=before|after|until|since)", " and "),
    (r"\b(?:just gone|just past|just ended|gone by)\b", ""),
    (r"\bup until\b", "until"),
    (r"^any(?:thing| ?day| time|one) (?=after|before|since|until)", ""),
    (r" and (?:anything|everything|every day|all|any day) (?:before|earlier)(?: that| it)?$", " or earlier"),
    (r" and (?:anything|everything|every day|all|any day) (?:after|since|later)(?: that| it| then)?$", " onwards"),
    (r"^(.+?), (?:that|the|this) (?:whole|entire|full) (week|month|sprint)$", r"the \2 of \1"),
    (r"^the day (?:that|when|on which) ", "the day "),
    (r"(?<= )even (?=began|started|ended)", ""),
    (r"^all (?:of )?(?:the )?(?:28|29|30|31) days (?:of|in) ", ""),
    (r"\b(?:iso )?week (?=\d{4}-?[wW]\d)", ""),
    (
        r"(?<= )(?:genau|exactement|exactamente|exatamente|esattamente|precies|exakt|dokładnie|etwa|exactly) (?=\d)",
        "",
    ),
    (r"\bletzte[snm]? drittel (?:des|vom|von) ", "end of "),
    (r"\berste[snm]? drittel (?:des|vom|von) ", "beginning of "),
    (r"^(?:en|em|no|in|im|w) (?=tod[oa]s?\b|tutt[oa]\b|toute?\b|ganz|heel|hela\b|całym)", ""),
    (r"\b([1-9])\.[ºª°] ?", r"\1. "),
    (
        r"\b(2\d)(0[1-9]|1[0-2])([0-3]\d)\s?[–-]\s?(2\d)(0[1-9]|1[0-2])([0-3]\d)\b",
        r"20\1-\2-\3 - 20\4-\5-\6",
    ),
    (
        r"^(?:the )?(?:perioden|period|zeitraum|période|periodo|período|okres) (?:of |from |du |de |del |vom )?(?=\d)",
        "",
    ),
    (r"开始(?:到现在|至今)$", "以来"),
    (r"^从(?=.+以来$)", ""),
    (r"(?<!\d)([0-4]\d)年(?=\d{1,2}月)", r"20\1年"),
    (r"^(?:年末|年始|月末|月初)(?=\d)", ""),
    (r" and (?:after|afterwards|later|since|onwards?)$", " onwards"),
    (r"^(?:the )?(?:working|work|business) week (?=of|beginning|starting|from)", "monday to friday of the week "),
    (r"\bsprint (\d\d),? (?:and|plus) the one (before|after)\b", _sprint_beside),
    (r"^dom (?=senaste|förra)", ""),
    (r"\bteh\b", "the"),
    (r"第?(\d+)(?:和|与|、|及)第?(\d+)个?(冲刺|迭代|周)", r"\3\1到\3\2"),
    (r"^(.+?)前的?最后(\d+)天$", r"the \2 days before \1"),
    (r"\b(?:the |a )?fortnight (?=ending|starting|beginning|commencing|from|before|after)", "the 2 weeks "),
    (r"^(sprint \d\d),? week ([12])$", r"week \2 of \1"),
    (r" (?:of it|of that|thereof|in it)$", ""),
    (r"\byrs?\b", "year"),
    (r"\btri(?= )", "trimestre"),
    (r"\bfirst third of ", "beginning of "),
    (r"\bmiddle third of ", "middle of "),
    (r"\b(?:last|final) third of ", "end of "),
    (r"\bwhichever (?=week|month|sprint)", ""),
    (r"\b(before|after) this one$", r"\1 the current one"),
    (r"\b(\d) sprints ending (?:with|in|at|on) (?:sprint )?(\d\d)$", _sprints_ending),
    (
        r"^(start|beginning|end|middle) of the ([^\W\d]+) (?:until|till|to|through|up to) ",
        r"from \1 of the \2 to ",
    ),
    (r"(?<=[旬底初末周月日号])那(?:几|\d+)[天日]$", ""),
    (
        r"(\d/\d{1,2}|[日号])の?[^\d\s前翌次後后下上一二三四五六七八九十两天週周日]{1,8}?"
        r"(以来|以降|以後|之后|以后|之前|以前|まで|から)$",
        r"\1\2",
    ),
    (r"(?<=\w) (?:sen|sedan)$", " ago"),
    (r"\b(?:lst|prev|ost|ostat|ult|últ|dern|ltz|ltzt|letz|afgel)\b\.?", "last"),
    (r"\b(?:back|latter|rear)[ -]half\b", "second half"),
    (r"\b(?:front|former|early)[ -]half\b", "first half"),
    (
        r"\b(week|weekend|sprint|month|quarter) "
        r"(?:(?:that |which )?(?:includes|contains|included|contained)|containing) (?!\d+ (?:and|to|-))",
        r"\1 of ",
    ),
    (
        r"\b((?:last |this |previous |next |current )?(?:sprint|week|month|quarter|year|q[1-4]|h[12]|"
        rf"{_MONTH}[a-z]*)(?: \d+)?)['’]s "
        r"((?:(?:first|second|third|fourth|last|final|\d+(?:st|nd|rd|th)) )?(?:\d+ )?"
        r"(?:start|beginning|end|middle|half|day|week|weekend|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)\b",
        r"the \2 of \1",
    ),
    (
        rf"\b({_COUNT} )(week|sprint|month|day|quarter)s? (before|after) (?:the |this |our )?"
        r"(current|last|previous|next) one\b",
        r"\1\2s \3 the \4 \2",
    ),
    (
        r"\bsprints? (?:before|after|antes del?|avant|vor|przed|voor|före|prima del?) (?=\d\d\b)",
        r"\g<0>sprint ",
    ),
    (
        rf"\b(sprint|week|woche|semaine|semana|settimana|vecka)[a-zęóńy]* {_FROM} (\d+) {_JOINT} (\d+)\b",
        r"\1 \2 - \1 \3",
    ),
    (r"第?(\d+)\s?(?:到|至|[-~—–])\s?第?(\d+)\s?个?(冲刺|迭代|周)", r"\3\1到\3\2"),
    (r"第([1-9])个(?=周|星期|礼拜)", lambda m: f"第{_CHINESE[int(m[1]) - 1]}"),
    (r"^(.+?)の最初の(\d+)日間?$", r"first \2 days of \1"),
    (r"^(.+?)の最初の(\d+)週間?$", r"first \2 weeks of \1"),
    (r"^(.+?)の最後の(\d+)日間?$", r"last \2 days of \1"),
    (r"^(.+?)的?[前头](\d+)[天日]$", r"first \2 days of \1"),
    (r"^(.+?)的?最后(\d+)[天日]$", r"last \2 days of \1"),
)  # fmt: skip
ORDER: tuple[Rule, ...] = (
    (rf"^(.+?),? (?:plus or minus|\+/-|±|give or take|plus/minus) ({_COUNT}) (days?|weeks?)$",
          r"from \2 \3 before \1 to \2 \3 after \1"),
    (r"^(?P<a>\d+)(?:\s?[-–]\s?| to )(?P<b>\d+) (?P<unit>[^\W\d]+) (?:ago|back)$", _counts_down),
    (
        r"^(?:vor|il y a|hace|há) (?P<a>\d+)(?:\s?[-–]\s?| (?:bis|à|a) )(?P<b>\d+) (?P<unit>[^\W\d]+)$",
        _counts_down,
    ),
    (rf"^({_COUNT}) (days?|weeks?) (?:on )?(?:either|each) side of (.+)$",
          r"from \1 \2 before \3 to \1 \2 after \3"),
    (rf"^within ({_COUNT}) (days|weeks) (?:of|around) (?!now|today)(.+)$",
          r"from \1 \2 before \3 to \1 \2 after \3"),
    (rf"^(.+?) and the ({_COUNT} (?:days|weeks)) (?:following|after(?: that| it)?)$", r"from \1 to \2 after \1"),
    (rf"^(.+?) (?:and|plus) the (?:following|next) ({_COUNT} (?:days|weeks))$", r"from \1 to \2 after \1"),
    (rf"^(?:from |starting )?(.+?),? for ({_COUNT} (?:days|weeks|months))$", r"the \2 starting \1"),
    (rf"^between ({_COUNT} \w+) and ({_COUNT} \w+ ago)$", r"from \1 ago to \2"),
    (
        rf"^(?:from |starting |ab |dal |desde |vanaf )?(.+?),? (?:for )?({_COUNT} (?:days|weeks|months)) "
        r"(?:long|in all|altogether)$",
        r"the \2 starting \1",
    ),
    (rf"^((?:the )?{_COUNT} (?:days|weeks|months|sprints)) (?:to|up to|until|till|through) ", r"\1 ending "),
    (r"\b(mon|tues|wednes|thurs|fri|satur|sun)days (?=ago\b)", r"\1day "),
)  # fmt: skip
MONTHS_CUT: tuple[Rule, ...] = tuple(
    (rf"(?<=\d )((?:de |di |of |d['’])?)(?:{cut})\b\.?", rf"\1{month}")
    for month, cut in (
        ("january", "gen|genn|sty"), ("february", "febr|lut"), ("march", "marco"), ("april", "kwi|kwiec"),
        ("may", "mag"),
        ("june", "cze|czerw"), ("july", "juill|lip"), ("august", "ago|sie|sierp"),
        ("september", "set|sett|wrzes|wrześ"),
        ("october", "out|paz|pazdz|paźdz"), ("november", "listop"), ("december", "grudz"),
    )
)  # fmt: skip
UNITS_CUT: tuple[Rule, ...] = tuple(
    (rf"\b(?:{cut})\b\.?", unit)
    for unit, cut in (
        ("days", "jrs|gg|dgn|dgr|tg|tge|tgn"), ("weeks", "wkn|sem|sett|settim|tyg|tydz|vkr"),
        ("month", "mnth|mth"), ("months", "mths|mnths|mos|mnd|mndn|mies|(?<=[0-9] )mån"),
        ("quarter", "qtrs?|trim|kwart|kvart"),
        ("weekend", "wknd|wkend|w/end"), ("sprint", "spr|sprt"),
    )
)  # fmt: skip
