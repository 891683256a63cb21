"""Words that say nothing about the subject of a text, in the languages that have many such words.

The list leaves out words that mean something in English or German, such as Dutch "die" and "door"
or French "son": in a language in which one is common, it is in so many passages that it counts for
nothing anyway.
"""

from __future__ import annotations

from typing import Final

from app.search.folding import fold

_ENGLISH: Final = (
    "a about all also an and any are as at be been but by can could did do does for from had has "
    "have how i if in into is it its me my no not of on or our she he so than that the their them "
    "then there these they this those to was we were what when where which who whom why will with "
    "would you your tell give say says please"
)
_GERMAN: Final = (
    "aber alle als also am an auch auf aus bei bin bis bitte da das dass dem den der des die dir "
    "doch du ein eine einem einen einer eines er es für gibt hat hatte haben ich ihr im in ist ja "
    "kann kein keine man mein mit nach nicht noch nur ob oder sein seine sich sie sind so über um "
    "und uns unter vom von vor war waren was welche welcher welches wann warum wenn wer werden wie "
    "wird wo wurde wurden zu zum zur"
)
_FRENCH: Final = (
    "au aux avec ceci cela ces cet cette ceux chez combien dans de depuis des du elle elles en "
    "entre est et fait faut il ils je jusque la laquelle le lequel les lesquelles lesquels leur "
    "leurs lui mais mes mon même ne nos notre nous ou où par parce pas pendant peut pourquoi qu "
    "quand que quel quelle quelles quels qui quoi sans ses sont sous suis sur tes toi tous "
    "tout toute toutes très un une vos votre vous ça était été être"
)
_SPANISH: Final = (
    "al algo algún alguna antes aunque cada como cómo con cual cuál cuales cuáles cuando cuándo "
    "cuánta cuántas cuánto cuántos de debe debo desde donde dónde durante el ella ellas ellos "
    "en entre es esa ese eso esta está están estas este esto estos fue ha han hasta hay la las le "
    "les lo los más mi mis muy ni nos para pero por porque puede puedo que qué quien quién se "
    "según sobre sus también tiene tienen tras tus un una unas unos ya yo"
)
_ITALIAN: Final = (
    "agli al alla alle anche che con cosa cui dagli dai dal dalla dalle degli dei "
    "della delle devo deve di è ed essere gli ha hanno ho i il la le lo loro mi ma molto ne "
    "negli nei nel nella nelle nostro ogni perché più può qual quale quali quando quanta quante "
    "quanti quanto quello questa queste questi questo se sia sono sua sue sugli sui sul sulla "
    "suo tra tutti un una"
)
_PORTUGUESE: Final = (
    "à ao aos às até cada com como da das de deve devo do ela ele eles em entre essa esse esta "
    "está este foi há isso já lhe mais mas meu minha muito na não nas no nos nós onde ou para "
    "pela pelas pelo pelos pode por porque posso qual quais quando quanta quantas quanto quantos "
    "que quem são se sem seu seus sobre sua suas também tem têm um uma você vocês"
)
_DUTCH: Final = (
    "aan al als bij dat de deze die dit dus een en er geen haar hebben heeft het hij hoe hoeveel "
    "hun ik je jij jouw kan kunnen maar mijn moet moeten naar niet nog ook te uit voor waar "
    "waarom wanneer wat welk welke werd wie wij worden wordt zal ze zich zij zijn zo"
)
_CHINESE: Final = (
    "什么 甚么 什麼 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪个 哪個 哪些 如何 是否 为什 為什 "
    "么时 麼時 时候 時候 多少 几个 "
    "可以 我们 我們 你们 他们 这个 這個 那个 那個 一个 一個 没有 沒有 不是 就是 以及 或者 "
    "的 了 是 在 和 与 與 或 及 吗 嗎 呢 吧 啊 把 被 从 從 到 对 對 就 也 都 很 请 請 我 你 您 "
    "他 她 它 们 們 这 這 那 个 個 有 不 什 么 麼 怎 哪 为 為 以 会 會 能 要"
)
_JAPANESE: Final = (
    "です ます すか でし まし した ませ せん して いる ある する され れる こと もの この その "
    "あの どの これ それ どれ どこ いつ だれ なに 何で 何を 何が 何は 何の から まで より では "
    "には とは のは のが での への ので ため よう なる ない ください くだ ださ さい どう うす "
    "どん んな は を が に の へ と も で や か ね よ 何 誰"
)
_KOREAN: Final = (
    "무엇 언제 어디 누가 누구 얼마 어떻 떻게 어떤 무슨 입니 니까 습니 니다 합니 나요 인가 가요 "
    "해야 하나 있나 있습 은 는 이 가 을 를 의 에 도 로"
)

COMMON: Final = frozenset(
    word
    for words in (
        _ENGLISH,
        _GERMAN,
        _FRENCH,
        _SPANISH,
        _ITALIAN,
        _PORTUGUESE,
        _DUTCH,
        _CHINESE,
        _JAPANESE,
        _KOREAN,
    )
    for word in fold(words).split()
)
"""All of these words, folded. For scripts that are cut into pairs: pairs and single letters."""
