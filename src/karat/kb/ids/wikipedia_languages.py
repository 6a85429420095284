"""Language codes of the Wikipedias, as in their addresses (`CODE.wikipedia.org`), in July 2025.

Closed editions are among them, since ids of old files name them.
"""

from __future__ import annotations

from typing import Final

_LANGUAGE_CODES: Final = """
aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg bbc
bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy
ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro
fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi hif ho hr
hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kaj kbd kbp kcg kg kge ki kj
kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad
mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne
new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps
pt pwn qu rki rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk
skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr
trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh
zh-classical zh-min-nan zh-yue zu
"""

WIKIPEDIA_LANGUAGES: Final = frozenset(_LANGUAGE_CODES.split())
"""Codes of all editions, open and closed, and the codes that redirect to them."""

_DOTTED_I = frozenset({"tr", "az", "kaa"})  # the Wikipedias in which the capital of `i` is `İ`, and that of `ı` is `I`


def capitalise_letter(letter: str, language: str) -> str:
    """Return the capital of a letter in the titles of the Wikipedia of `language`.

    The dotless `ı` and the dotted `i` never share a capital: in Turkish they are `I` and `İ`, elsewhere `ı` has none.
    """
    if language in _DOTTED_I and letter == "i":
        return "İ"
    if language not in _DOTTED_I and letter == "ı":
        return letter
    return letter.upper()


def parse_wiki_prefix(prefix: str) -> str | None:
    """Return the language code in the database name of a Wikipedia (`zh_min_nan` for `zh-min-nan`), or None.

    `prefix`: the name without its end `wiki`.
    """
    language = prefix.replace("_", "-")
    return language if language in WIKIPEDIA_LANGUAGES else None
