"""Messages of a machine that something went wrong, and queries that only ask for another try.

An error or an apology for one tells nothing that a query may point to: "Error 503: try again" is no subject. That is
told by form, and of the message as a whole: each part of it, between two signs or joints, must be one that such
messages consist of, and one at least must say that something went wrong. So "Error 503 means that the gateway has no
free connection" is none, as it tells something else as well. Where that is in doubt a message is none.
"""

from __future__ import annotations

import json
import re
from functools import cache

_LONGEST = 600
"""Characters of a message that says nothing but that something went wrong."""
_NOW = r"(?:right now|at (?:the|this) (?:moment|time)|currently|temporarily|momentarily|just now|for now|again|still)"
_THING = (
    r"(?:(?:web|search|api|tool|server|database|model) )?(?:request|search|query|connection|lookup|tool call|api call)"
)
_SERVER = (
    r"(?:(?:search|web|retrieval|database|vector|language|api|remote|backend|external|upstream) )?(?:service|server"
    r"|system|index|database|backend|api|model|gateway|network|endpoint|search engine|assistant|tool|search)s?"
)
_SOME = r"(?:(?:the|your|this|that|my|our|an?|any) )?"
_OBJECT = rf"(?:it|{_SOME}(?:{_THING}|{_SERVER}|results?|search results|response|question|message|knowledge base))"
_DOING = (
    r"(?:processing|searching|handling|completing|fetching|loading|retrieving|generating|connecting to|contacting"
    r"|reaching|accessing|querying|executing|performing|calling|answering|running)"
)
_DO = (
    r"(?:complete|process|finish|perform|run|execute|reach|connect to|access|load|fetch|retrieve|handle|contact|query"
    r"|get|establish|generate)"
)
_THEN = (
    rf"(?: (?:while|when|during|in) (?:(?:i was|we were|trying to) )?(?:{_DOING}|{_DO})(?: {_OBJECT})?"
    rf"| (?:{_DOING}|trying to {_DO}) {_OBJECT}| (?:with|on|in|during|at) {_OBJECT}|(?: {_NOW})?(?: here| there)?"
    r"(?: on (?:our|my|the) (?:end|side))?)?"
)
_KIND = (
    r"(?:(?:internal|unexpected|unknown|network|server|connection|http|api|fatal|search|request|gateway|system|tool"
    r"|database|upstream|proxy|technical|temporary|timeout|application) )"
)
_NUMBER = r"(?: ?[-#]?(?:\d{3,4}|code(?: ?[-#]?\d{3,4})?))"
_AFTER = r"(?: after \d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds?|min|minutes?))"
_WITH = r"(?: with (?:an? )?(?:timeout|error|(?:http |status |error )?(?:code )?\d{3}))"
_STATE = (
    r"(?:unavailable|not available|down|offline|overloaded|not responding|unreachable|not reachable|busy|at capacity"
    r"|out of service|experiencing (?:problems|issues|high (?:load|demand|traffic)))"
)
_FAULT = (
    r"(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|request time-?out|server is overloaded)"
)
_SAYS: dict[str, tuple[str, ...]] = {
    "en": (
        rf"{_KIND}{{0,3}}(?:error|timeout){_NUMBER}?(?: {_FAULT})?",
        rf"{_KIND}{{1,3}}(?:exception|failure){_NUMBER}?",
        rf"(?:http(?:/\d(?:\.\d)?)? |status (?:code )?)?(?:[45]\d\d )?{_FAULT}",
        r"http [45]\d\d",
        rf"(?:(?:an?|the|some) )?{_KIND}{{0,3}}(?:error|exception|problem|timeout)"
        rf" (?:has |have )?(?:just )?(?:occurr?ed|happened){_THEN}",
        rf"there (?:was|is|has been|seems to be) (?:an?|some) {_KIND}{{0,3}}(?:error|problem|issue|timeout){_THEN}",
        rf"(?:i|we) (?:have )?(?:encountered|ran into|hit) (?:an?|some) {_KIND}{{0,3}}(?:error|problem|issue){_THEN}",
        rf"(?:something|anything) (?:went|has gone|must have gone|seems to have gone) (?:\w+ly )?wrong{_THEN}",
        rf"{_SOME}{_THING} (?:has )?(?:timed out{_AFTER}?|failed{_WITH}?|(?:was|has been|been) aborted|expired"
        r"|could not be (?:completed|processed|performed|executed)|did not (?:complete|respond|go through))"
        rf"(?: {_NOW})?",
        rf"{_SOME}{_SERVER} (?:is|are|seems to be|appears to be)(?: {_NOW})? {_STATE}(?: {_NOW})?",
        rf"{_SOME}{_SERVER} (?:did not|does not|didn't|doesn't) respond(?: in time)?",
        rf"{_SOME}{_SERVER} (?:could not|cannot|can't) be reached(?: {_NOW})?",
        rf"(?:i|we) (?:(?:am|are|was|were)(?: {_NOW})? (?:unable|not able) to|could not|couldn't|cannot|can't|can not"
        rf"|failed to) {_DO} {_OBJECT}(?: {_NOW})?",
        rf"(?:unable to|could not|couldn't|cannot|can't|failed to) (?:connect|fetch|{_DO} {_OBJECT})(?: {_NOW})?",
        rf"(?:(?:read|operation|tool) )?timed out{_AFTER}?|operation (?:failed|aborted)",
        r"connection (?:refused|reset(?: by peer)?|lost|closed|aborted|interrupted)(?: unexpectedly)?",
        rf"no (?:connection to|response from) {_OBJECT}|(?:rate|request) limit (?:exceeded|reached)|quota exceeded",
    ),
    "de": (
        r"(?:(?:es|da|hier) )?(?:ist )?(?:leider )?(?:ein )?(?:(?:interne|unerwartete|unbekannte|technische)r )*"
        r"(?:server|netzwerk|verbindungs)?fehler (?:ist )?(?:aufgetreten|passiert)",
        r"(?:es|da|hier) gab (?:leider )?einen (?:\w+en )?fehler",
        r"(?:(?:interner|unerwarteter|unbekannter) )*(?:server|netzwerk|verbindungs)?fehler(?:code)?(?: \d{3,4})?",
        r"(?:(?:es|da|hier|leider|dabei) )?(?:(?:ist|etwas|was|leider|da|hier) )*(?:schiefgegangen|schiefgelaufen"
        r"|schief gegangen|schief gelaufen)|etwas ging schief|da ging etwas schief",
        r"(?:(?:die|ihre|deine|diese) )?(?:anfrage|suche|abfrage|verbindung) (?:ist |wurde )?(?:leider )?"
        r"(?:fehlgeschlagen|gescheitert|abgebrochen|unterbrochen)",
        r"(?:der|die|das) (?:\w*dienst|\w*server|\w*system|\w*index|modell|datenbank|verbindung) ist (?:(?:leider"
        r"|zurzeit|derzeit|momentan|gerade|aktuell|im moment|vorübergehend) )*"
        r"(?:nicht (?:verfügbar|erreichbar)|überlastet)|(?:der|die|das) (?:\w*dienst|\w*server) antwortet nicht",
        r"zeitüberschreitung(?: (?:bei|der|einer|ihrer|deiner|anfrage|suche|verbindung))*|keine verbindung zum server",
        r"(?:(?:ich|wir) (?:konnten?|kann|können)|(?:konnten?|kann|können) (?:ich|wir)) "
        r"(?:(?:die|den|das|ihre|deine) )?(?:anfrage|suche|abfrage|index|server"
        r"|dienst|datenbank) (?:(?:leider|gerade|zurzeit|derzeit|momentan|im moment) )*nicht (?:erreichen|ausführen"
        r"|abschließen|bearbeiten|verarbeiten|durchführen)",
    ),
    "fr": (
        r"une (?:erreur|exception)(?: (?:interne|inattendue|inconnue|technique|serveur|réseau|du serveur))*"
        r" (?:est survenue|s'est produite)",
        r"erreur(?: (?:interne|inattendue|inconnue|technique|serveur|réseau|du serveur|de connexion))*(?: \d{3,4})?",
        r"(?:un problème|une? \w+ technique) (?:est survenue?|s'est produite?)"
        r"|quelque chose (?:s'est mal passé|n'a pas fonctionné)",
        r"(?:la|votre|ta) (?:requête|recherche|connexion|demande) a (?:échoué|expiré|été interrompue)",
        r"le (?:service|serveur|système|modèle|moteur de recherche) (?:est (?:(?:actuellement|momentanément"
        r"|temporairement|pour le moment) )?(?:indisponible|inaccessible|surchargé)|n'est (?:(?:actuellement|pour le"
        r" moment) )?pas (?:disponible|accessible)|ne répond pas)",
        r"(?:le )?délai (?:d'attente )?(?:est )?dépassé|impossible de (?:se connecter|joindre|contacter)(?: (?:au|le)"
        r" (?:serveur|service))",
        r"(?:je n'ai|nous n'avons) pas pu (?:terminer|effectuer|traiter|exécuter|lancer) (?:la|votre|ta) (?:recherche"
        r"|requête|demande)",
    ),
    "es": (
        r"(?:se ha producido|se produjo|ha ocurrido|ocurrió|hubo|ha habido) un (?:error|problema)(?: (?:interno"
        r"|inesperado|desconocido|técnico|del servidor|de red|de conexión))*",
        r"error(?: (?:interno|inesperado|desconocido|del servidor|de red|de conexión|de servidor))+(?: \d{3,4})?",
        r"algo (?:salió|ha salido|fue|ha ido) mal",
        r"(?:la|su|tu) (?:solicitud|búsqueda|conexión|consulta|petición) (?:falló|ha fallado|expiró|ha expirado"
        r"|no se pudo completar)",
        r"el (?:servicio|servidor|sistema|modelo) (?:no está (?:(?:temporalmente|actualmente) )?disponible|está"
        r" (?:(?:temporalmente|actualmente) )?(?:caído|saturado)|no responde)"
        r"(?: (?:en este momento|ahora(?: mismo)?))?",
        r"no se (?:pudo|puede) conectar con el servidor",
        r"tiempo de espera agotado|(?:no pude|no pudimos|no se pudo|no he podido) (?:completar|realizar|procesar"
        r"|ejecutar) (?:la|su|tu) (?:búsqueda|solicitud|consulta|petición)",
    ),
    "pt": (
        r"(?:ocorreu|houve|aconteceu) um (?:erro|problema)(?: (?:interno|inesperado|desconhecido|técnico|no servidor"
        r"|de rede|de conexão))*",
        r"erro(?: (?:interno|inesperado|desconhecido|no servidor|do servidor|de rede|de conexão))*(?: \d{3,4})?",
        r"algo (?:deu|correu) (?:errado|mal)",
        r"(?:a|sua|tua) (?:solicitação|pesquisa|busca|conexão|consulta|requisição) (?:falhou|expirou)",
        r"o (?:serviço|servidor|sistema|modelo) (?:não está (?:(?:temporariamente|atualmente) )?disponível|está"
        r" (?:(?:temporariamente|atualmente) )?(?:indisponível|sobrecarregado))(?: no momento)?",
        r"tempo (?:limite )?esgotado|não (?:consegui|foi possível) (?:concluir|realizar|processar) (?:a|sua|tua)"
        r" (?:pesquisa|busca|solicitação|consulta)",
    ),
    "it": (
        r"si è verificato un (?:errore|problema)(?: (?:interno|imprevisto|sconosciuto|tecnico|del server|di rete))*",
        r"errore(?: (?:interno|imprevisto|sconosciuto|del server|di rete|di connessione))*(?: \d{3,4})?",
        r"qualcosa è andato storto",
        r"(?:la|tua) (?:richiesta|ricerca|connessione) (?:è fallita|non è riuscita|è scaduta)",
        r"il (?:servizio|server|sistema|modello) (?:non è (?:(?:temporaneamente|attualmente|al momento) )?"
        r"(?:disponibile|raggiungibile)|è (?:(?:temporaneamente|attualmente) )?sovraccarico|non risponde)"
        r"(?: al momento)?",
        r"tempo scaduto|non (?:sono riuscit[oa] a|è stato possibile) (?:completare|eseguire|elaborare) la (?:ricerca"
        r"|richiesta)",
    ),
    "nl": (
        r"er is (?:helaas )?(?:iets|een (?:\w+ )?(?:fout|probleem)) (?:misgegaan|mis gegaan|fout gegaan|opgetreden)"
        r"|er ging iets (?:mis|fout)|er trad een fout op",
        r"(?:(?:interne|onverwachte|onbekende) )*(?:(?:server|netwerk)fout|fout \d{3,4})",
        r"(?:de|het|uw|je) (?:verzoek|zoekopdracht|aanvraag|verbinding) (?:is )?(?:mislukt|verbroken|verlopen)",
        r"de (?:dienst|service|server) is (?:(?:momenteel|tijdelijk|op dit moment) )*(?:niet (?:beschikbaar|bereikbaar)"
        r"|overbelast)",
    ),
    "sv": (
        r"något (?:gick|har gått) (?:fel|snett)|ett (?:\w+ )?fel (?:uppstod|har uppstått|inträffade|har inträffat)",
        r"(?:internt |okänt |oväntat )*(?:(?:server|nätverks)fel|fel \d{3,4})",
        r"(?:sökningen|förfrågan|begäran|anslutningen) (?:misslyckades|avbröts|tog för lång tid)",
        r"(?:tjänsten|servern|systemet) är (?:(?:tillfälligt|just nu|för närvarande) )*(?:inte tillgänglig|otillgänglig"
        r"|överbelastad)(?: just nu)?",
    ),
    "pl": (
        r"(?:wystąpił|pojawił się) (?:(?:nieoczekiwany|nieznany|wewnętrzny) )*(?:błąd|problem)(?: serwera)?"
        r"|coś poszło nie tak",
        r"(?:(?:nieoczekiwany|nieznany|wewnętrzny) )*błąd(?: (?:wewnętrzny|serwera|sieci|połączenia))*(?: \d{3,4})?",
        r"(?:usługa|serwer|system) jest (?:(?:obecnie|chwilowo|tymczasowo) )*(?:niedostępn[ya]|przeciążon[ya])"
        r"|serwer nie odpowiada",
        r"przekroczono (?:limit czasu|czas oczekiwania)(?: żądania)?|nie udało się (?:wykonać|zakończyć|przetworzyć)"
        r" (?:wyszukiwania|zapytania|żądania)",
    ),
    "ru": (
        r"(?:произошла|возникла)(?: (?:внутренняя|неизвестная|непредвиденная))* ошибка(?: сервера)?"
        r"|(?:внутренняя |неизвестная )*ошибка(?: (?:сервера|сети|соединения))*(?: \d{3,4})?|что-то пошло не так",
        r"(?:сервис|сервер|служба) (?:временно |сейчас )*(?:недоступен|недоступна|не отвечает|перегружен)",
        r"превышено время ожидания|не удалось (?:выполнить|завершить|обработать) (?:поиск|запрос)",
    ),
    "tr": (
        r"(?:beklenmeyen |bilinmeyen |bir )*hata (?:oluştu|meydana geldi)|bir şeyler ters gitti|bir sorun oluştu"
        r"|(?:sunucu|bağlantı|ağ) hatası|hata(?: \d{3,4})?",
        r"(?:hizmet|servis|sunucu)(?: (?:şu anda|geçici olarak))* (?:kullanılamıyor|yanıt vermiyor)"
        r"|istek zaman aşımına uğradı|arama başarısız oldu",
    ),
    "zh": (
        r"(?:系统|服务器?|网络|搜索)?(?:发生|出现|出|遇到)了?一?[个些点]?(?:未知|意外|内部|系统|网络|服务器)*(?:错误|问题|错)了?",
        r"(?:服务器|系统|服务|搜索服务|模型|索引|网络)(?:暂时|目前|当前|现在)*(?:不可用|无法使用|无响应|没有响应|繁忙|超载)",
        r"(?:您的|你的)?(?:请求|搜索|连接|查询|操作)(?:已|已经)?(?:超时|失败|中断)了?|(?:内部)?(?:服务器|网络|系统)(?:内部)?(?:错误|异常)"
        r"|(?:错误|錯誤)(?:代码)? ?\d{3,4}|(?:发生|發生)錯誤|伺服器錯誤",
        r"[我们]{0,2}(?:暂时|目前|现在)*无法(?:连接到?|访问|完成|处理)(?:服务器|索引|数据库|搜索|查询|您的请求|请求)",
    ),
    "ja": (
        r"(?:予期しない|予期せぬ|内部|不明な|サーバー|ネットワーク|システム|通信)*(?:の)?(?:エラー|問題)が発生し(?:ました|ています)",
        r"(?:リクエスト|検索|接続|処理|通信)(?:が|に|は)(?:タイムアウト|失敗)しました",
        r"(?:サービス|サーバー|システム)[はが](?:現在|一時的に|ただいま|今)*(?:利用できません|応答していません|混み合っています)",
        r"(?:内部)?(?:サーバー|ネットワーク)?エラー ?\d{0,4}",
    ),
    "ko": (
        r"(?:(?:예기치 않은|알 수 없는|내부|서버|네트워크|시스템) ?)*(?:오류|문제|에러)가 ?"
        r"발생(?:했습니다|하였습니다|했어요)",
        r"(?:요청|검색|연결)(?:이|에|을)? ?(?:실패했습니다|시간이? ?초과되?었습니다)|(?:서버|네트워크)? ?오류 ?\d{0,4}",
        r"서비스를 ?(?:현재 ?|일시적으로 ?)*사용할 수 없습니다",
    ),
}
_LATER = (
    r"(?:later|soon|shortly|now|in (?:an? )?(?:(?:few|couple of|\d+) )?(?:moment|minute|while|bit|second|s)s?|once more"
    r"|again|at a later time)"
)
_GOES_WITH: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:(?:i am|i'm|we are|we're) )?(?:(?:so|very|really|terribly) )?sorry(?: (?:about|for) (?:that|this|the"
        r" (?:inconvenience|trouble|delay)))?|oops|whoops|oh no|uh-oh|oh|hm+|unfortunately|warning|fatal",
        r"(?:(?:my|our) )?apologies(?: for the inconvenience)?|(?:i|we) apologi[sz]e(?: for (?:that|this|the"
        r" inconvenience))?",
        rf"(?:(?:please|kindly|just|you can|you may) )*(?:try|retry|try again|wait)(?: (?:it|that|this|(?:your|the|a)"
        rf" (?:request|search|query|moment)))?(?: {_LATER})*",
        r"(?:please )?contact (?:(?:the|your|our) )?(?:support(?: team)?|administrator)"
        r"(?: if (?:the|this) (?:problem|issue|error) (?:persists|continues))?",
        r"if (?:the|this) (?:problem|issue|error) (?:persists|continues|happens again)",
        r"(?:please )?check your (?:internet |network )?connection|(?:please )?(?:refresh|reload) the page",
        r"(?:we are|we're|i am|i'm) (?:working on|looking into) (?:it|this|that)|thank you for your patience",
        rf"(?:(?:status|error) )?(?:code )?[45]\d\d(?: {_FAULT})?|not found|forbidden|unauthorized|bad request|not"
        r" implemented|out of memory",
        r"(?:request|error|trace|correlation) id[ #]*[\w-]+|(?-i:E[A-Z]{4,})(?: [\d.:]+)?",
        r"(?-i:(?:[A-Za-z_]\w*\.)*[A-Z][a-z]\w*(?:Error|Exception|Timeout))",
        rf"{_SOME}{_SERVER} (?:is|was|are|were)(?: {_NOW})? {_STATE}(?: {_NOW})?",
        r"(?:it|that) (?:timed out|took too long)",
        rf"(?:an? )?{_KIND}{{1,3}}(?:error|problem|issue|failure|reasons?)|(?:a )?timeout|high (?:load|demand|traffic)",
    ),
    "de": (
        r"(?:(?:es|das) tut (?:mir|uns) (?:sehr )?leid|tut (?:mir|uns) leid|entschuldigung|entschuldige|verzeihung"
        r"|sorry|leider|hoppla|ups)",
        r"(?:bitte )?(?:versuche?n?|versuch's|probiere?n?)(?: (?:sie|du|es|bitte|später|gleich|in kürze"
        r"|in ein paar minuten|in einigen minuten|noch ?mal|noch ?einmal|nochmals|erneut|wieder))+",
        r"(?:der|die|das) (?:\w*dienst|\w*server|\w*index|datenbank) (?:(?:gerade|zurzeit|derzeit) )*(?:nicht"
        r" (?:verfügbar|erreichbar)|überlastet) (?:ist|war)",
    ),
    "fr": (
        r"(?:(?:je suis|nous sommes) )?(?:vraiment )?désolée?s?|oups|pardon|malheureusement|excusez-(?:moi|nous)",
        r"(?:(?:veuillez|merci de|vous pouvez) )*(?:l')?(?:réessaye[zr]|réessaie|essayez)(?: (?:plus tard|à nouveau"
        r"|ultérieurement|de nouveau|dans (?:quelques|un) (?:minutes|instants?)))*(?: s'il vous plaît)?",
    ),
    "es": (
        r"(?:lo siento(?: mucho)?|lo sentimos|perdón|disculpa|disculpe|lamentablemente|ups)",
        r"(?:por favor )?(?:inténtalo|inténtelo|intenta|intente|inténtelo|vuelve a intentarlo|vuelva a intentarlo"
        r"|prueba|pruebe)(?: (?:de nuevo|otra vez|nuevamente|más tarde|luego|en unos (?:minutos|instantes)))*",
        r"por favor",
    ),
    "pt": (
        r"(?:desculpe?|desculpa|lamento|lamentamos|perdão|infelizmente|ops)",
        r"(?:por favor )?(?:tente|tenta)(?: (?:novamente|de novo|outra vez|mais tarde|em alguns minutos))*|por favor",
    ),
    "it": (
        r"(?:(?:mi )?(?:scusa|scusi|dispiace)|spiacente|siamo spiacenti|ops|purtroppo)",
        r"(?:(?:per favore|si prega di) )*(?:riprova|riprovare|riprovi|riprovate)(?: (?:più tardi|di nuovo"
        r"|tra (?:qualche minuto|poco)))*",
    ),
    "nl": (
        r"(?:sorry|excuses|het spijt (?:me|ons)|helaas|oeps)",
        r"(?:probeer)(?: (?:het|later|opnieuw|nog ?eens|nog een keer|over een paar minuten|alstublieft|alsjeblieft))+",
    ),
    "sv": (
        r"(?:förlåt|tyvärr|ursäkta|beklagar|vi beklagar|hoppsan)",
        r"(?:(?:var god och|vänligen) )?(?:försök|prova)(?: (?:igen|senare|på nytt|om (?:en stund|några minuter)))+",
    ),
    "pl": (
        r"(?:przepraszam|przepraszamy|niestety|ups)",
        r"(?:proszę )?(?:spróbuj|spróbować|spróbujcie)(?: (?:ponownie|jeszcze raz|później|za (?:chwilę|kilka minut)))+",
    ),
    "ru": (
        r"(?:извините|простите|к сожалению|приносим извинения)",
        r"(?:пожалуйста )?(?:попробуйте|попробуй|повторите|повтори)(?: (?:еще раз|ещё раз|снова|позже|попытку|запрос"
        r"|через (?:минуту|несколько минут)))+|пожалуйста",
    ),
    "tr": (
        r"(?:üzgünüm|üzgünüz|özür dilerim|özür dileriz|maalesef)",
        r"(?:lütfen )?(?:(?:daha sonra|biraz sonra|tekrar|yeniden) )+(?:deneyin|deneyiniz|dene)",
    ),
    "zh": (
        r"(?:非常|很|十分|实在)?(?:抱歉|对不起|不好意思|對不起)",
        r"请?您?(?:稍后|稍候|过一会儿?|几分钟后|重新)*(?:再试|重试|再次尝试|重新尝试|再試)(?:一次|一下)?|請稍後再試",
    ),
    "ja": (
        r"(?:大変|誠に)?(?:申し訳(?:ありません|ございません)|すみません|ごめんなさい)(?:が)?",
        r"(?:しばらく(?:して|経って|たって)から|しばらく|後で|あとで|後ほど|のちほど|時間をおいて|もう一度|再度|もう1度)*"
        r"(?:お試し|やり直して|試して|おためし)ください",
    ),
    "ko": (
        r"(?:대단히 )?(?:죄송합니다(?:만)?|미안합니다|죄송해요)",
        r"(?:(?:잠시 ?후에?|나중에|조금 ?후에?) ?)?다시 ?(?:한 ?번 ?)?"
        r"시도(?:해|하여)? ?(?:주세요|주십시오|주시기 바랍니다|하세요)",
    ),
}
_BEGINS = (
    r"(?:(?:sorry|unfortunately|oops|it (?:seems|looks like|appears)(?: that| like)?|please note that|leider"
    r"|malheureusement|lamentablemente|infelizmente|purtroppo|helaas|tyvärr|niestety|к сожалению|maalesef|désolée?"
    r"|mais) )*"
)
_ENDS_PART = re.compile(
    r"[.!?…;:,]+(?=\s|$)|[。，！？、；：()\[\]|—–]+|\s-+\s|\.{3}"
    r"|(?:^|(?<=\s))(?:because|since|as|due to|and|but|so|weil|und|aber|parce que|car|et|porque|pero|mas|perché|ma"
    r"|omdat|maar|eftersom|och|men|ponieważ|ale|и|но|так как|ve|çünkü)\s",
    re.IGNORECASE,
)
_AROUND = " \t*_#`>⚠❌❗🚫😕😔\ufe0f"
_TRACEBACK = re.compile(r"\W*traceback \(most recent call last\):?\s*(?=$|file\s+\"|…|\.\.\.)", re.IGNORECASE)
_FRAME = re.compile(r"file \"[^\"…]*[\"…](?:, line \d+)?(?:, in \S+)?", re.IGNORECASE)
_SOURCE = re.compile(
    r"$|(?:raise|return|await|async|yield|with|for|if|elif|else|while|import|from|assert|del|not|pass|try)\b"
    r"|[A-Za-z_]\w*$|\S*(?:[(\[{=@~^]|\.\w)|[\w, ]+ [-+*/|]?="
)
_ERROR = re.compile(
    r"(?<!\S)(?:KeyError: '[^']*'|(?:(?:[A-Za-z_]\w*\.)+[A-Z]\w+"
    r"|[A-Z]\w*(?:Error|Exception|Timeout|Interrupt|Exit|Iteration)|Exception)(?=[\s:]|$))"
)
_NEXT = re.compile(
    r"[.!?。！？]\s+|(?:^|(?<=\s))(?![A-Z])\S*[^\s\d:,;(\[\]{=-]\s+(?=[A-Z][a-z]*(?:[\s,.;:!?]|$)|[^\W\d_a-zA-Z])"
)
"""Where the message of an error may end, and what is told behind it begin: line ends are not kept."""
_BODY_BEGINS = re.compile(r"\{\s*\"errors?\"\s*:\s*[\[{\"]")
_BODY = frozenset(
    "error errors detail details message status code type param path timestamp title instance ok success statuscode"
    " status_code request_id requestid trace_id reason".split()
)
"""What an error has, of what JSON is sent with one; other fields tell something else as well."""
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
    text = " ".join(text.split()).replace("’", "'")
    if traceback := _TRACEBACK.match(text):
        return _ends_with_error(text[traceback.end() :])
    return _is_error_body(text) if text.startswith("{") else len(text) <= _LONGEST and bool(_says_wrong(text))


def _says_wrong(text: str) -> bool | None:
    """Whether a part says that something went wrong; None if a part tells something else."""
    parts = [part for part in (part.strip(_AROUND) for part in _ENDS_PART.split(text)) if part]
    others = [part for part in parts if not _any_of("says").fullmatch(part)]
    return len(others) < len(parts) if all(map(_any_of("goes with").fullmatch, others)) else None


def _ends_with_error(frames: str) -> bool:
    """Whether nothing else is told behind the last frame of a traceback and its error."""
    rest = _FRAME.split(frames)[-1].lstrip(_AROUND + "….")
    if not rest:
        return _ERROR.search(frames) is None
    for error in _ERROR.finditer(rest):
        told, end = rest[error.end() :], 0
        if told.startswith(":"):
            told = told[1:].lstrip()
            first = told[: found.end()] if (found := _NEXT.search(told)) else told
            end = 0 if first.rstrip().endswith((".", "!", "?")) else len(first)
        if _SOURCE.match(rest[: error.start()].strip()) and _says_wrong(told[end:]) is not None:
            return True
    return False


def asks_again(text: str) -> bool:
    """Whether a query says nothing but that it should be tried again."""
    return _RETRY.fullmatch(text) is not None


@cache
def _any_of(kind: str) -> re.Pattern[str]:
    """What parts of messages say that something went wrong, or what goes with them, in all languages."""
    known = (_SAYS if kind == "says" else _GOES_WITH).values()
    every = "|".join(form for forms in known for form in forms)
    return re.compile(f"{_BEGINS}(?:{every})", re.IGNORECASE)


def _is_error_body(text: str) -> bool:
    """Whether a text is JSON that is sent with an error, which may have been cut."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "…" in text and _BODY_BEGINS.match(text) is not None
    if not _BODY.issuperset(str(key).casefold() for key in body):
        return False
    error = body.get("error") or body.get("errors")
    told = (body.get("message"), body.get("detail"), body.get("title"))
    return (bool(error) and isinstance(error, str | dict | list)) or any(
        isinstance(t, str) and is_failure(t) for t in told
    )
