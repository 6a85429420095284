"""Closed classes of English words: pronouns, determiners, numbers, times and others."""

from __future__ import annotations

import re

from karat.model.surface import PRONOUNS


def _word_set(text: str) -> frozenset[str]:
    """Return the distinct words of a text, separated by white space."""
    return frozenset(text.split())


POSSESSIVES = _word_set("my your his her its our their whose")
"""Possessive determiners."""

PRO_FORMS = (
    PRONOUNS | POSSESSIVES | _word_set("who whom which what that this these those both each either neither another")
)
"""Words that refer to something named elsewhere."""

PLURAL_PRO_FORMS = _word_set("we us ours ourselves they them theirs themselves yourselves these those both")
"""Plural pro-forms."""

DETERMINERS = _word_set("a an the this that these those some any no every each all both such another") | POSSESSIVES
"""Words before a noun that specify it."""

PREPOSITIONS = _word_set(
    """
    of in on at by for with from to into onto over under about against between among through during before after since
    until within without across along around behind beyond near off out up down upon toward towards despite per via
    """
)

CONJUNCTIONS = _word_set(
    "and or but nor yet so if because while although though unless whether than as when where why how"
)

AUXILIARIES = _word_set("be am is are was were been being have has had having do does did get gets got")

MODALS = _word_set("can could may might must shall should will would")

ADVERBS = _word_set(
    """
    not never always often sometimes soon already still again also just only very too quite rather almost even ever
    here there then once twice perhaps maybe instead together away back far well later ago abroad
    """
)

ADJECTIVES = _word_set(
    """
    able anonymous average bad best better big black blue bright broad brown capable certain cheap clean clear close
    cold comfortable common complete current daily dark dead deep different difficult dim domestic double dry due
    early easy empty entire extra fair false far fast fatal few fine firm foreign former free fresh full further
    future good grand gray great green grey guilty happy hard heavy high holy hot huge human ill important independent
    innocent joint key large last late less likely little long low main major male many mere minor modern more most
    much narrow near new next nice normal nuclear old only open other own past poor present previous prime private
    prior proper public pure quick quiet random rare ready real recent red rich right round rural safe same senior
    separate serious several severe sharp short sick simple single small soft solid special steady strange strict
    strong such sudden sure sweet tall thick thin tough true upper urban vast violent warm weak wet white whole wide
    wild wise worse worst worth wrong yellow young
    """
)

COMPASS = _word_set("north south east west northern southern eastern western central middle upper lower")
"""Words that distinguish parts of places."""

IRREGULAR_VERBS = _word_set(
    """
    said went came saw took gave made knew told became began left felt held brought kept sent spent built lost met
    paid led ran sat stood won spoke wrote rose fell grew drew flew threw drove rode broke chose froze stole woke wore
    swore tore hid ate forgot sang drank sank swam shook dealt meant burnt learnt bought thought caught taught fought
    sought sold dug hung struck stuck swung lay lit shot put let bred fed fled slid found heard laid withdrew
    withdrawn gone done seen taken given known written spoken broken chosen driven risen fallen grown drawn flown
    thrown worn torn hidden eaten forgotten sung begun shown born died tied lied
    """
)

VERBS = _word_set(
    """
    accept achieve add admit advise affect agree allow announce answer appear apply argue arrive ask assume attend avoid
    become begin believe belong bring build buy carry catch choose claim come commit compare complain confirm consider
    consist contain continue contribute convince deal decide declare defend define deny depend derive describe destroy
    develop die disappear discover discuss earn eat elect encourage enjoy ensure enter establish exist expect explain
    explode explore express fail fall feel fight find follow force forget forgive gather get give go grow happen hear
    help hide hold hope hurt imagine improve include increase insist intend introduce invest involve join keep kill know
    lead learn leave lend lie listen live lose love maintain make marry mean meet mention miss need obtain occur offer
    oppose pay perform persuade prefer prepare prevent promote prove provide publish pull punish pursue push raise reach
    read receive reduce refer refuse reject remain remember remove replace require resign respond reveal rise run say
    see seek seem sell send serve settle share shoot sign sing sit sleep solve speak spend stand start stay stop succeed
    suffer suggest support survive take talk teach tell tend thank think throw travel treat try turn understand use vote
    wait walk want warn wear welcome win wish wonder write
    """
)
"""Frequent verbs; many are also nouns, so the neighbouring words decide."""

IRREGULAR_PLURALS = _word_set(
    "people children men women police feet teeth mice geese media data criteria phenomena alumni"
)

IRREGULAR_NOUNS = _word_set(
    """
    morning evening building clothing something nothing anything everything meeting king ring thing spring string wing
    ceiling feeling wedding pudding painting drawing offspring being need seed speed feed breed deed bed shed sled
    hundred family supply reply rally ally assembly monopoly butterfly anomaly italy july bully arrival approval
    removal proposal refusal survival trial official material memorial tutorial burial festival carnival journal
    signal general capital hospital animal arsenal admiral rival interval criminal individual ritual manual table
    vegetable variable cable restaurant participant immigrant migrant merchant assistant accountant consultant
    defendant servant tenant warrant plant elephant giant infant grant parent talent agent accident president student
    incident resident client patient event percent moment government document department fish dish wish finish polish
    rubbish parish perspective objective initiative alternative representative relative native executive detective
    motive narrative incentive directive logic music fabric traffic topic critic clinic comic republic panic epidemic
    academic mechanic goal deal meal coal seal heal appeal reveal climate debate candidate estate state date rate gate
    plate mandate senate certificate exercise enterprise promise rise noise surprise prize size
    """
)
"""Nouns with the ending of another word class."""

ORDINALS = _word_set(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth thousandth millionth
    """
)

SMALL_NUMBERS = _word_set(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    """
)

LARGE_NUMBERS = _word_set("dozen hundred thousand million billion trillion")
"""Numbers that have a plural."""

WEEKDAYS = _word_set(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
)

MONTHS = _word_set(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)

RELATIVE_TIMES = _word_set("yesterday tomorrow")
"""Days by their distance from today. Not "today": the annotated sets take it as the common noun for the present."""

_CLOCK = _word_set("am pm gmt utc bc ad bce ce century centuries")
_DIGITS = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th|s|h\d*)?")
_ROMAN = re.compile(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_LINKS = _word_set("of the and to")

_TITLES = """
president vice-president chancellor minister premier governor senator secretary ambassador mayor judge justice speaker
king queen prince princess duke duchess earl count countess lord lady sir emperor sultan sheikh pope bishop archbishop
cardinal rabbi imam father reverend saint general colonel major captain admiral sergeant doctor professor
mr mrs ms miss dr prof gen gov sen rep capt col sgt
"""

TITLES = _word_set(_TITLES)
"""Offices and forms of address, which are names where they have a capital."""

_NAME_PARTS = """
academy administration affairs agency airline airlines airport airways alliance army assembly association authority
avenue bank bay board bridge building bureau cabinet camp canal capital center centre century championship chamber
church city club coast college commission committee company confederation conference congress cooperation corporation
council country county court cup defence defense delegation democracy department desert development directorate
district division east economy education embassy empire energy event exchange faculty federation festival finance
force forces foundation front fund game games government group gulf harbour health heights high hill house industry
information initiative institute international island islands journal justice kingdom lake law league library market
media middle military ministry mission monitor mountain movement museum national nations new news north ocean office
olympics organisation organization palace parliament party peace people police policy port post press private
programme project province public radio red region republic research reserve river road royal school science sea
security senate service services society south space sport sports square state states station stock street strip
studies supreme survey team technology television territory theatre times tower trade treaty tribunal union united
university valley village war water west white world year youth
"""

NAME_PARTS = _word_set(_NAME_PARTS)
"""Common words in names; inside a longer name they are capitalised because of the name."""

_DEMONYMS = _word_set(
    """
    british english scottish welsh irish french german dutch swiss swedish norwegian danish finnish polish czech slovak
    greek turkish kurdish arab arabic jewish muslim islamic christian catholic protestant spanish portuguese basque
    chinese japanese vietnamese thai lao burmese filipino uzbek tajik kazakh afghan iraqi israeli kuwaiti omani qatari
    saudi yemeni emirati pakistani bangladeshi nepali somali swazi soviet serb croat slovene bulgarian latin hindu
    hispanic western eastern northern southern republican democratic democrat
    """
)
_DEMONYM = re.compile(r"[A-Z]\w+(?:ian|ean|can|ese|nish|dish|lish|kish|rish|stani|uan|ban|yan|oan)")


def is_pro_form(text: str) -> bool:
    """Return whether a text is a pro-form, such as a pronoun; a text in capitals is an abbreviation, except `I`."""
    return text.lower() in PRO_FORMS and (text == "I" or not text.isupper())


def is_demonym(text: str) -> bool:
    """Return whether a text looks like the adjective of a place, people or faith: "Tyrolean", "North Korean".

    Only the last word is checked; the text must not be blank.
    """
    last = text.split()[-1]
    return last[:1].isupper() and (last.lower() in _DEMONYMS or _DEMONYM.fullmatch(last) is not None)


GOVERNING = _word_set(
    """
    administration armed army assembly authorities cabinet congress council defence defense executive force forces
    government judiciary military ministers ministry navy parliament police presidency senate team
    """
)
"""Words for institutions that act for a place and are often called by its name."""


def is_numeric(text: str) -> bool:
    """Return whether a text is a number, a date or a time, in digits or in words."""
    parts = re.findall(r"[^\s,()–—-]+", text)
    content_parts = [part for part in parts if part.lower() not in _LINKS]
    return (
        bool(content_parts)
        and all(map(_is_numeric_word, content_parts))
        and any(part.lower().strip(".") not in _CLOCK for part in content_parts)
    )


def _is_numeric_word(word: str) -> bool:
    """Return whether a word is a number in digits, Roman numerals or letters, or a word of a date or time."""
    plain = word.strip(".'’").removesuffix("'s").removesuffix("’s")
    small = plain.lower()
    if _DIGITS.fullmatch(small) or _ROMAN.fullmatch(plain):
        return True
    if small in WEEKDAYS or small in MONTHS:
        return plain.istitle() or (plain.isupper() and len(plain) > 4)  # "SAT" is no day
    words = SMALL_NUMBERS | LARGE_NUMBERS | ORDINALS | RELATIVE_TIMES | _CLOCK
    return small in words or small.removesuffix("s") in LARGE_NUMBERS | WEEKDAYS
