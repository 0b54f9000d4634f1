"""Messages that something went wrong, and queries that ask for another try."""

from __future__ import annotations

import pytest
from queryplan.program.context import printable
from queryplan.program.text.failures import asks_again, is_failure

FAILED = [
    "Error 502: bad gateway",
    "Sorry, something went wrong while I was searching.",
    "I cannot reach the index right now. Please try again later.",
    "Request timed out after 30 seconds",
    "Es ist ein Fehler aufgetreten.",
    "Fehler 500",
    "Une erreur est survenue, réessayez plus tard.",
    "Algo salió mal. Inténtalo de nuevo.",
    "Er is iets misgegaan.",
    "出错了，请稍后再试。",
    "エラーが発生しました。",
    "Error 503: Service Unavailable",
    "Error 503",
    "HTTP 500 Internal Server Error",
    "502 Bad Gateway",
    "504 Gateway Timeout",
    "Error: ECONNREFUSED 127.0.0.1:6333",
    "Error code: 429 - Too Many Requests",
    "Internal server error",
    "Sorry, something went wrong. Please try again later.",
    "Oops! Something went wrong.",
    "Request timed out after 30 s",
    "The request has timed out.",
    "The search failed.",
    "Search failed: connection refused",
    'Traceback (most recent call last):\n  File "app.py", line 40, in search\n    raise TimeoutError\nTimeoutError',
    '{"error": {"code": 503, "message": "The model is overloaded."}}',
    '{"detail": "Internal Server Error"}',
    '{"status": 500, "error": "Internal Server Error", "path": "/search"}',
    "I couldn't complete the search because the index is unavailable.",
    "I'm sorry, but I couldn't reach the search service right now. Please try again in a few minutes.",
    "I am unable to process your request at the moment.",
    "An unexpected error occurred while processing your request.",
    "An error has occurred. Please contact support if the problem persists.",
    "The service is temporarily unavailable.",
    "Connection reset by peer",
    "Network error",
    "TimeoutError: timed out",
    "Unable to connect to the server.",
    "Too many requests. Please try again later.",
    "Ein unerwarteter Fehler ist aufgetreten. Bitte versuchen Sie es später erneut.",
    "Entschuldigung, da ist etwas schiefgelaufen.",
    "Die Anfrage ist fehlgeschlagen.",
    "Zeitüberschreitung bei der Anfrage",
    "Der Dienst ist zurzeit nicht verfügbar.",
    "Une erreur s'est produite. Veuillez réessayer plus tard.",
    "Désolé, le service est momentanément indisponible.",
    "Lo siento, se ha producido un error.",
    "Error interno del servidor",
    "Ocorreu um erro inesperado. Tente novamente mais tarde.",
    "Desculpe, algo deu errado.",
    "Si è verificato un errore imprevisto. Riprova più tardi.",
    "Er is een fout opgetreden. Probeer het later opnieuw.",
    "Något gick fel. Försök igen senare.",
    "Wystąpił nieoczekiwany błąd. Spróbuj ponownie później.",
    "Произошла ошибка. Попробуйте позже.",
    "Bir hata oluştu. Lütfen daha sonra tekrar deneyin.",
    "抱歉，服务暂时不可用，请稍后再试。",
    "发生错误，请重试。",
    "申し訳ありません、エラーが発生しました。もう一度お試しください。",
    "오류가 발생했습니다. 나중에 다시 시도해 주세요.",
    "I apologize, but I encountered an error while searching.",
    "Sorry, I ran into a problem. Please try again.",
    "The tool call failed with a timeout.",
    "Request failed with status code 502",
    "Error: Request failed with status code 429",
    "Sorry, the assistant is currently unavailable.",
    "Our servers are currently overloaded. Please try again later.",
    "Failed to fetch",
    "An error occurred: connection timed out",
    "⚠️ Something went wrong. Try again?",
    "Search is temporarily unavailable.",
    "I was unable to retrieve the results due to a network error.",
    '{"error":"rate limit exceeded"}',
    "Es ist ein technischer Fehler aufgetreten.",
    "Der Server antwortet nicht.",
    "Leider konnte ich die Suche nicht ausführen.",
    "La recherche a échoué. Réessayez dans quelques minutes.",
    "No se pudo conectar con el servidor.",
    "La ricerca non è riuscita.",
    "De zoekopdracht is mislukt.",
    "Sökningen misslyckades.",
    "Serwer nie odpowiada.",
    "Не удалось выполнить запрос. Попробуйте еще раз.",
    "服务器错误，请稍后重试",
    "検索に失敗しました。",
    "요청 시간이 초과되었습니다.",
    "Traceback (most recent call last): File \"/app/run.py\", line 3, in <module> … KeyError: 'q'",
    "ConnectionError: connection refused",
    '{"error": {"code": 503, "message": "The model is over … retry',
    'Traceback (most recent call last): File "app.py", line 40 … TimeoutError',
    "El servicio no está disponible en este momento.",
    "Le serveur ne répond pas.",
]
ANSWERED = [
    "",
    "Chiamaka plans her errors.",
    "Error is where learning begins, she says.",
    "Something went wrong with the glaze, so Leilani waited.",
    "He says one should try again after a failure.",
    "#5163 failed since key rotation locked the runner out.",
    "Error 503 means that the gateway has no free connection.",
    "The traceback points at line 40 of the parser, says Omar.",
    "Timeout: atlas waits 30 s, heron 10 s.",
    "The search failed to scale, so Omar replaced it in March.",
    "Error 503 on the gateway since the rotation of the key.",
    "Error: the one word that Priya never says.",
    "Errors are where learning begins, she says.",
    "Error budget of atlas: 0.1 %.",
    "Timeout 30 s in atlas, 10 s in heron.",
    "Timeouts, mostly, and two bad certificates.",
    "Exception: guests of the summer series may read aloud.",
    "Failure (episode 12) and Silence (episode 14).",
    "Failure! That is the title of her second book.",
    "The model was not available in Europe before May.",
    "The service was unavailable for two hours on Tuesday.",
    "The connection failed twice, and Tomasz opened ticket 812.",
    "The request failed because Ines had revoked the token.",
    "Something went wrong on the second climb, and Dario turned back.",
    "Nothing went wrong.",
    "She advises to try again later in the day.",
    "Sorry, no episode of the podcast is about that.",
    "Sorry, I only know the podcast The Slow Lantern and its guests.",
    "I couldn't find an episode about knitting.",
    "I couldn't find anything about timeouts in the runbook of heron.",
    "The call was cancelled by Omar at 14:05.",
    "Call failed in 3 of 40 runs.",
    "Pipeline 4411 failed: connection refused by the registry.",
    "It was aborted since two patients had liver failure.",
    "Heart failure, mostly, and kidney failure in 3 of 120.",
    "Internal server error is what borealis answered on 3 May, until 12:40.",
    "Server error 500, 41 times; server error 502, twice.",
    "Fehler 12 ist der Lieblingsfehler von Ilse.",
    "Fehler: Ilse sagt, man lernt nur aus ihnen.",
    "Bei der Glasur ist etwas schiefgegangen, sagt Leilani.",
    "Es ist ein Fehler, sagt Priya, abends zu lesen.",
    "Une erreur est pour Miriam le début de tout.",
    "Algo salió mal en el segundo viaje de Darío.",
    "Erro 404 é o título do episódio 9.",
    "Er is iets misgegaan met de oven, zegt Nell.",
    "Något gick fel med ugnen, säger Ilse.",
    "Błąd 12 opisał Tomasz w maju.",
    "她说出错了也没关系，重要的是再写一遍。",
    "错误500是因为密钥过期。",
    "エラーが発生したのは5月3日で、原因は証明書でした。",
    "오류 503은 게이트웨이에 연결이 없다는 뜻입니다.",
    'Omar wrote: "Request timed out after 30 s", and closed the ticket.',
    'Ilse answers a failed call with "please try again later".',
    '{"service": "atlas", "error_rate": 0.02, "timeout": 30}',
    "429 genes, 12 of which are errors of annotation.",
    "503 is the number of the service desk.",
    "Unable to sleep, Priya wrote the second chapter.",
    "The error was a wrong certificate.",
    "Error handling is in section 3.",
    "Timeout errors doubled in May.",
    "The request failed twice.",
    "The search for the wreck failed.",
    "The connection is a metaphor, she says.",
    "The service is on Sundays.",
    "The model is down to 2 GB.",
    "The system is not available on weekends.",
    "Try again later, she says, is bad advice.",
    "He could not complete the marathon.",
    "We could not reach the summit.",
    "I cannot tell you about the weather.",
    "Sorry, that is outside of what I know.",
    "Sorry.",
    "Not found in any episode.",
    "Try again in the morning.",
    "503, 502 and 429.",
    "Server failure, human error and bad luck.",
    "Network errors, mostly.",
    "The error occurred at 14:05, says Omar.",
    "An error occurred in the migration of 3 May.",
    "Something went wrong in the second act.",
    "Es gab einen Fehler im Rezept.",
    "Das Rezept ist schiefgegangen.",
    "La connexion est au coeur de son livre.",
    "El error fue de Omar.",
    "错误是学习的开始。",
    "エラーは5件ありました。",
    "오류가 세 번 발생했습니다.",
    "El servicio está disponible.",
    "Le service est disponible.",
    "Il servizio è disponibile.",
    '{"error": {"code": 1}, "speaker": "Priya"}',
    '["error"]',
    "Please try again later.",
    "Error 503: " + "that is what the page said when " * 6,
    "Error 503. " * 100,
]


@pytest.mark.parametrize("text", FAILED)
def test_a_message_all_of_which_says_that_something_went_wrong_is_a_failure(text: str) -> None:
    assert is_failure(text)
    assert is_failure(printable(text)), "as a plan has it"


@pytest.mark.parametrize("text", ANSWERED)
def test_an_answer_that_speaks_of_errors_is_none(text: str) -> None:
    assert not is_failure(text)


@pytest.mark.parametrize("text", [text for text in FAILED if not (text.startswith("{") and "…" in text)])
def test_a_failure_that_something_else_is_told_with_is_none(text: str) -> None:
    assert not is_failure(f"{text} Omar had revoked the token.")


@pytest.mark.parametrize("text", ["try again", "please retry", "ok again pls", "nochmal bitte", "réessaie", "再试一次"])
def test_a_query_may_ask_for_nothing_but_another_try(text: str) -> None:
    assert asks_again(text)


@pytest.mark.parametrize("text", ["try again with Priya", "again who is it", "what does she try again", ""])
def test_a_query_that_asks_for_more_is_none_such(text: str) -> None:
    assert not asks_again(text)


FRAME = 'Traceback (most recent call last):\n  File "a.py", line 3, in x\n'


@pytest.mark.parametrize(
    "behind",
    [
        "",
        "KeyError: 'y'",
        "    raise TimeoutError\nTimeoutError\n\nPlease try again later.",
        "    raise ConnectionError from error\nConnectionError: refused",
        "    foo(x)\nAttributeError: 'NoneType' object has no attribute 'get'",
        "    ~~~^^^^\nrequests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://a/b",
        "    get(u)\nConnectionRefusedError: [Errno 111] Connection refused",
        "    get(u)\nTimeoutError: The request has timed out. Please try again later.",
        f"    d['y']\nKeyError: 'y'\n\nDuring handling of the above exception, another exception occurred:\n\n{FRAME}"
        "    raise ValueError('no y')\nValueError: no y",
    ],
)
def test_a_traceback_is_a_failure_whatever_its_error_says(behind: str) -> None:
    assert is_failure(FRAME + behind)


@pytest.mark.parametrize(
    "behind",
    [
        "KeyError: 'y' This means that your config has no timeout; Priya recommends setting it to 30 seconds.",
        "KeyError: 'y', which means that the config has no timeout",
        "    raise TimeoutError\nTimeoutError\n\nThe gateway waits 30 s, heron 10 s",
        "    f()\nTimeoutError: timed out\n\nOmar had revoked the token",
        "    f()\nValueError: bad port. Set it to 30",
        "    f()\nTimeoutError: timed out, so the timeout has to be set to 30 s.",
        "    f()\nKeyError: 'y'\n\n这意味着配置没有超时",
        "is where the parser fails",
        "KeyError: 'y'\nIt is raised by File \"b.py\", line 4.",
    ],
)
def test_a_traceback_that_something_else_is_told_behind_is_none(behind: str) -> None:
    assert not is_failure(FRAME + behind)
