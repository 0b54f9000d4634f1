"""Messages of a machine that something went wrong, and queries that only ask for another try.

An error or an apology for one tells nothing that a query may point to: "Error 503: try again" is no subject. That is
told by form: such words at the beginning, or what such messages say, in a message that is short.
"""

from __future__ import annotations

import re

_LONGEST = 30
"""Words of a message that says nothing but that something went wrong."""
_ERROR = (
    r"(?:an?\s+|ein(?:e[nr]?)?\s+|une?\s+|unos?\s+|um\s+|een\s+|ett\s+)?(?:(?:internal|unexpected|unknown|network|server"
    r"|interner|unerwarteter|erreur|error|http|api)\s+){0,2}"
    r"(?:error|exception|failure|timeout|fehler|erreur|erro|errore|fout|fel|błąd|ошибка|hata|错误|錯誤|エラー|오류)"
)
_BEGINS = re.compile(
    rf"\W*(?:(?:sorry|oops|uh-oh|entschuldigung|désolée?|perdón|lo siento|desculpe|scusa|spiacente|抱歉|申し訳"
    rf"ありません)\W+)?{_ERROR}(?:\s*[-#]?\d{{3,4}}\b|\s*[:(!]|\s+(?:occurred|has occurred|ist aufgetreten|aufgetreten"
    r"|est survenue|s'est produite|ocurrió|ha ocurrido|ocorreu|si è verificato|opgetreden|uppstod|wystąpił)|\s*[.!]?$)",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:something|anything)\s+(?:went|has gone|must have gone)\s+wrong(?=\s*(?:$|[.!,;:(–—-])"
    r"|\s+(?:here|there|while|when|on|at|with (?:the|your|this|my) (?:request|search|query|connection|server))\b)"
    r"|\btry\s+(?:it\s+)?again\s+(?:later|in a (?:moment|minute|while|bit))\b"
    r"|\b(?:service|server|system|model|connection)\s+(?:is|was)\s+(?:\w+\s+)?(?:un|not )available\b"
    r"|\b(?:request|connection|search|call)\s+(?:has\s+)?(?:timed out|failed|was aborted|was cancelled)\b|\btraceback\b"
    r"|\bes\s+ist\s+(?:ein\s+fehler|etwas\s+schief)|\bschiefgegangen\b|\bversuche?n?\s+(?:sie\s+)?es\s+(?:bitte\s+)?"
    r"(?:später|noch\s?mal|erneut)"
    r"|\bune\s+erreur\s+(?:est|s'est)\b|\bréessaye[rz]\s+plus\s+tard\b|\bréessayer\s+plus\s+tard\b"
    r"|\b(?:algo|ha)\s+(?:salió|fue|ido)\s+mal\b|\b(?:inténtalo|inténtelo|intenta)\s+(?:de\s+nuevo|más\s+tarde)\b"
    r"|\balgo\s+(?:deu|correu)\s+(?:errado|mal)\b|\btente\s+novamente\b|\bqualcosa\s+è\s+andato\s+storto\b"
    r"|\bsi\s+è\s+verificato\s+un\s+errore\b|\bocurrió\s+un\s+error\b|\bocorreu\s+um\s+erro\b|\briprova\s+più\s+tardi\b"
    r"|\ber\s+(?:is|ging)\s+iets\s+(?:mis|fout)|\bprobeer\s+het\s+(?:later\s+)?opnieuw\b|\bnågot\s+gick\s+(?:fel|snett)\b"
    r"|\bförsök\s+igen\s+senare\b|\bcoś\s+poszło\s+nie\s+tak\b|\bspróbuj\s+ponownie\b"
    r"|出错了|出了(?:点)?(?:问题|错)|请稍后再试|エラーが発生|もう一度お試し|오류가\s*발생|다시\s*시도",
    re.IGNORECASE,
)
_POLITE = "|".join(
    "please pls plz ok okay just can could would you kindly bitte mal doch s'il te vous plaît svp por favor per favore"
    " alsjeblieft graag snälla proszę and now then und et y e en".split()
)
_AGAIN = (
    r"try(?:\s+(?:it|that|this))?(?:\s+once)?(?:\s+more|\s+again)|retry(?:\s+(?:it|that|this))?|once more"
    r"|(?:one|1) more (?:time|try)|again|rerun(?:\s+(?:it|that))?|run (?:it|that) again"
    r"|repeat(?:\s+(?:it|that|the (?:question|query)))?"
    r"|(?:versuch(?:e|s)?(?:\s+es|['’]s)?\s+)?(?:noch\s?mal|noch\s?einmal|nochmals|erneut)(?:\s+versuchen)?"
    r"|réessa(?:ie|ye|yez|yer)|essaie encore|encore une fois"
    r"|(?:inténtalo|intenta|prueba|pruébalo)\s+(?:de nuevo|otra vez)|otra vez|de nuevo|reintenta"
    r"|(?:tenta|tente)\s+(?:de novo|outra vez|novamente)|de novo|outra vez|riprova|di nuovo|ancora una volta"
    r"|(?:probeer(?:\s+het)?\s+)?(?:opnieuw|nog\s?(?:een\s?keer|eens))|försök igen|en gång till|igen"
    r"|(?:spróbuj\s+)?(?:ponownie|jeszcze raz)|再试(?:一次|一下|试)?|再来一次|重试|もう一度|もういちど"
    r"|다시(?:\s*해\s*줘)?"
)
_RETRY = re.compile(rf"\W*(?:(?:{_POLITE})\W+)*(?:{_AGAIN})(?:\W+(?:{_POLITE}))*\W*", re.IGNORECASE)


def is_failure(text: str) -> bool:
    """Whether a message says nothing but that something went wrong."""
    return len(text.split()) <= _LONGEST and (_BEGINS.match(text) is not None or _SAYS.search(text) is not None)


def asks_again(text: str) -> bool:
    """Whether a query says nothing but that it should be tried again."""
    return _RETRY.fullmatch(text) is not None
