"""Function words by language: words that hold a sentence together and say nothing about what is sought.

They are used twice: key terms leave them out, and a text is taken to be in the language of which it has the most
function words.
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a about after again all also although am an and any anyone anything are as at be because been before
            being between both but by can could did do does doing done each either else ever every for from give
            given had has have having he her here him his how i if in into is it its just let like list may me
            might mine more most much my neither no nor not of off on once one or other our out over own please
            say says said she should show since so some such tell than that the their them then there these they
            this those through to too under until up us very was we were what when where whether which while who
            whom whose why will with without would you your""",
        "de": """aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der
            des die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas
            euch für gab gibt hat hatte haben ich ihm ihn ihr im in ist ja kann kein keine können mal man mein
            mich mir mit nach nicht noch nun nur ob oder ohne sagt sagte sein seine sich sie sind so über um und
            uns unser unter vom von vor war waren warum was weil welche welchen welcher welches wem wen wenn wer
            werden wie wieso wir wird wo zu zum zur zwischen""",
        "fr": """a ai alors après as au aussi autre aux avec avant ce ces cet cette chez comme comment dans de des
            dit donc du elle elles en entre est et été être eu fait il ils j je l la le les leur leurs lui ma
            mais me même mes moi mon ne nos notre nous on ont ou où par pas plus pour pourquoi qu quand que quel
            quelle quelles quels qui quoi s sa sans se ses si son sont sur ta te tes toi ton tous tout très tu
            un une vos votre vous y""",
        "es": """a al algo ante antes aquí así aún como cómo con cuál cuáles cuando cuándo de del desde dice dijo
            donde dónde e el él ella ellas ellos en entre era es esa ese eso esta está están este esto fue ha
            han hay hasta he la las le les lo los más me mi mis muy nada ni no nos nosotros o para pero por
            porque qué que quién quien quiénes se según ser si sí sin sobre son su sus también te tiene tu tus
            un una uno y ya yo""",
        "pt": """sobre diz disse foram
            a ao aos aquela aquele as até com como da das de dela dele depois do dos e é ela elas ele eles em
            entre era essa esse esta está este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na
            não nas nem no nos nós o onde os ou para pela pelo por porque qual quais quando que quem se sem ser
            seu sua são só também te tem um uma você""",
        "it": """a ad ai al alla alle anche c che chi ci come con cosa da dal dalla degli dei del della delle di dice
            dove e è ed era gli ha ha hanno ho i il in io l la le lei li lo loro lui ma mi mia mio ne nei nel
            nella no noi non o per perché più qual quale quali quando quanto quello questa questo se si sono su
            sua sulla suo ti tra tu un una uno""",
        "nl": """aan al alle als ben bij dan dat de den deze die dit doen door dus een en er geen had heb hebben
            heeft het hij hoe hun ik in is je kan maar me meer met mij mijn na naar niet nog nu of om onder ons
            ook op over te tegen tot uit van veel voor waar waarom wanneer was wat we wel welke werd wie wij
            worden ze zei zich zij zijn zo zou""",
        "sv": """alla allt att av bara blev bli de dem den denna det detta dig din du då efter ej eller en er ett
            från för ha hade han har hon hur här i inte jag kan man med men mig min mot mycket ni nu när och om
            oss på sig sin ska så till under upp ut vad var varför vara vem vi vid vilka vilken är över""",
        "pl": """a aby ale bo być był była co czy dla do gdzie go i ich ile im ja jak jaka jaki jakie jest jego jej
            już kiedy kto która które który ma może mi mnie na nad nie niż o od on ona oni po pod przed przez
            przy są się ta tak także tam te tego ten to tu ty tym w we więc wszystko z za ze że""",
        "ru": """а без более бы был была были было быть в вам вас весь во вот все всё всех вы где говорит говорят да
            даже для до его ее её если есть еще ещё же за зачем здесь и из или им их к как какая какие какой
            какую ко когда кого кому которая которое которые который кто куда ли либо меня мне много мной мой
            моя мы на над нам нас наш не него нее неё нет ни них но о об однако он она они оно от откуда очень
            по под после почему при про с сам свои свой себя сказал сказала сказали со так также такой там тебя
            то тогда того тоже только том ты у уже чего чей чем через что чтобы эта эти это этого этой этом
            этот эту я""",
    }.items()
}

CJK_FUNCTION_WORDS: dict[str, tuple[str, ...]] = {
    "zh": tuple(
        "什么时候 为什么 怎么样 是不是 有没有 什么 怎么 怎样 哪些 哪个 哪里 哪儿 多少 几个 一下 一些 "
        "这个 那个 这些 那些 以及 或者 还是 但是 因为 所以 如果 关于 对于 的话 我们 他们 她们 你们 自己 请问 "
        "的 了 是 吗 呢 吧 啊 和 与 跟 在 对 从 到 把 被 给 让 我 你 他 她 它 谁 哪 也 都 就 还 又 很 最 有 "
        "说 过 着 得 地 这 那".split()
    ),
    "ja": tuple(
        "について どのように どうして どんな なぜ どう どの どれ どこ いつ だれ 誰 何 ください 教えて でした ですか "
        "です ます ました している した する いる ある これ それ あれ この その あの "
        "と の は が を に へ で も や か ね よ な".split()
    ),
    "ko": tuple("무엇 무슨 어떤 어떻게 왜 언제 어디 누가 누구 그리고 그 이 저".split()),
}
"""Longest first within a language: they are cut out of text that has no spaces."""
