"""Types of the entities of the starter snapshot, in terms of the whitelist of the fair-evaluation paper.

The type comes from Wikidata's classes, by their labels; else from Freebase's relations, whose names indicate the types
of subject and object; else from the description. Without any of these the type is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

PERSON, CHARACTER, LOCATION, ORGANISATION = "Q215627", "Q95074", "Q27096213", "Q43229"
WORK, PRODUCT, EVENT, BRAND, GENRE = "Q17537576", "Q2424752", "Q1656682", "Q431289", "Q483394"
LANGUAGE, CHEMICAL, TAXON, RELIGION, IDEOLOGY = "Q17376908", "Q43460564", "Q16521", "Q9174", "Q7257"
POSITION, OCCUPATION, DISCIPLINE, AWARD, DISEASE = "Q4164871", "Q12737077", "Q11862829", "Q618779", "Q12136"
PEOPLE, COLOUR, TREATMENT, SYMPTOM, SPORT, ANIMAL = "Q33829", "Q1075", "Q179661", "Q169872", "Q349", "Q729"

WHITELIST: Final = frozenset(
    {
        *(PERSON, CHARACTER, LOCATION, ORGANISATION, WORK, PRODUCT, EVENT, BRAND, GENRE, LANGUAGE, CHEMICAL, TAXON),
        *(RELIGION, IDEOLOGY, POSITION, OCCUPATION, DISCIPLINE, AWARD, DISEASE, PEOPLE, COLOUR, TREATMENT, SYMPTOM),
        *(SPORT, ANIMAL),
    }
)
"""Types of the snapshot; the whitelist has more, of which the sources have no entities."""

_HEAD_NOUNS: Final[Mapping[str, str]] = {
    PERSON: "human actor actress director musician singer writer composer singer-songwriter comedian screenwriter "
    "footballer novelist cinematographer rapper author politician guitarist philosopher playwright filmmaker poet "
    "animator journalist songwriter lyricist pianist mathematician saxophonist physicist drummer businessman architect "
    "puppeteer painter scientist cartoonist vocalist conductor economist comedienne multi-instrumentalist emperor "
    "bassist historian wrestler boxer dancer choreographer photographer biologist chemist lawyer entrepreneur "
    "businesswoman inventor astronaut sculptor theologian pope saint  dramatist essayist violinist "
    "cricketer golfer sportsperson jurist producer",
    CHARACTER: "superhero supervillain mutate",
    LOCATION: "city town village municipality country district mountain commune comune county region province lake "
    "territory settlement area arrondissement canton borough island subdistrict metropolis prefecture volcano township "
    "neighborhood neighbourhood city-state megacity continent capital seat locality airport park cemetery stadium "
    "building museum church cathedral basilica palace castle state kingdom empire republic river sea ocean bay strait "
    "peninsula archipelago valley desert suburb voivodeship planet street square bridge tower hamlet parish frazione "
    "governorate duchy principality sultanate colony protectorate dominion city/town city-county ward constituency "
    "fountain theater theatre beach canal monument oblast autonomous hill range nation realm residenz powiat gmina",
    ORGANISATION: "university school college academy institution institute organization organisation company business "
    "enterprise corporation agency party publisher airline label club team band group supergroup duo orchestra "
    "newspaper league association society union ministry government council committee broadcaster conglomerate "
    "chain bank operator retailer trust provider authority force utility subsidiary cooperative co-operative firm "
    "charity foundation distributor carrier conservatory gymnasium lycée faculty alliance network studio manufacturer "
    "board police department supplier wholesaler brewery library hospital center centre developer "
    "administration office service imprint choir army navy senate parliament court legislature franchisor lender "
    "federation intercommunality consortium bureau secretariat commission diocese archdiocese",
    WORK: "film movie series miniseries novel book album song play opera poem painting sculpture sitcom manga anime "
    "magazine periodical musical symphony episode statue tapestry drama biopic rockumentary episode franchise",
    BRAND: "brand trademark marque",
    GENRE: "genre subgenre sub-genre",
    EVENT: "war battle ceremony conflict election tournament games olympics festival season championship revolution "
    "invasion draft accident edition campaign",
    LANGUAGE: "language languages macrolanguage dialect",
    DISEASE: "disease diseases disorder cancer syndrome infection neoplasm",
    SYMPTOM: "symptom",
    RELIGION: "religion denomination",
    IDEOLOGY: "ideology",
    OCCUPATION: "profession occupation",
    POSITION: "position rank",
    DISCIPLINE: "discipline science",
    AWARD: "award prize medal",
    SPORT: "sport",
    TREATMENT: "medication antibiotic",
    COLOUR: "color colour",
    TAXON: "species genus breed",
    CHEMICAL: "compound element",
    PRODUCT: "instrument smartphone automobile fruit food meat vegetable plant disaccharide",
    ANIMAL: "animal",
    PEOPLE: "ethnicity",
}
"""Head nouns of class labels and descriptions, by type."""

_CLASS_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    LOCATION: (
        "regional center",
        "administrative centre",
        "financial centre",
        "center of oblast",
        "unitary authority",
        "department of",
        "overseas department",
        "municipal corporation",
        "city council",
        "personal union",
        "group of mountains",
        "administrative territorial entity",
        "census-designated place",
        "unincorporated community",
        "archaeological site",
    ),
    PEOPLE: ("ethnic group", "ethnoreligious group", "ethnic community", "human population"),
    ORGANISATION: (
        "college of the university",
        "television station",
        "radio station",
        "television channel",
        "political parties",
    ),
    WORK: (
        "video game",
        "literary work",
        "written work",
        "television program",
        "original video animation",
        "collection",
    ),
    SPORT: ("type of sport",),
    DISCIPLINE: ("branch of", "academic major"),
}
"""Phrases in class labels whose head noun is misleading, by type."""

_DESCRIPTION_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    PRODUCT: ("programming language", "operating system", "staple food", "food products", "white liquid"),
    ORGANISATION: ("lower house", "upper house", "network of", "public transport", "bus system"),
    POSITION: ("head of state and",),
    IDEOLOGY: ("system of government",),
    LOCATION: ("natural satellite", "celestial body"),
}
"""Phrases in descriptions whose head noun is misleading, by type."""

_TYPE_BY_NOUN: Final = {head: type for type, heads in _HEAD_NOUNS.items() for head in heads.split()}
_NOUNS_OF_CLASSES_ONLY: Final = {"capital", "seat", "state", "service", "label", "edition", "type", "range"}
_OCCUPATION_NOUNS: Final = frozenset(_HEAD_NOUNS[PERSON].split()) - {"human"}
"""Nouns of occupations. A class with such a label would contain persons, but no source uses it as a class."""

_AFTER_HEAD = re.compile(
    r" (?:in|of|for|from|on|at|by|that|which|who|based|located|founded|and|to|with|serving|operating|headquartered|"
    r"owned|near|within|between|used|or|created|as|formerly|since|about|published|written|directed|released)\b"
    r"|[,;(:.–]"
)

_SUBJECT_TYPES: Final[Mapping[str, str]] = {
    PERSON: "people/person people/deceased_person film/actor film/director tv/tv_writer tv/tv_personality "
    "sports/pro_athlete soccer/football_player government/politician celebrities/celebrity film/film_set_designer "
    "base/popstra/celebrity",
    LOCATION: "location/location location/country location/statistical_region location/hud_foreclosure_area "
    "location/hud_county_place location/administrative_division location/us_county "
    "location/capital_of_administrative_division base/biblioness/bibs_location base/aareas/schema "
    "olympics/olympic_participating_country sports/sports_team_location base/popstra/location",
    ORGANISATION: "education/educational_institution education/university organization/organization "
    "business/business_operation music/record_label film/film_distributor soccer/football_team sports/sports_team "
    "sports/professional_sports_team american_football/football_team baseball/baseball_team ice_hockey/hockey_team "
    "tv/tv_network government/political_party government/governmental_body organization/non_profit_organization "
    "organization/endowed_organization sports/sports_league",
    WORK: "film/film tv/tv_program award/award_winning_work award/award_nominated_work",
    GENRE: "music/genre media_common/netflix_genre",
    AWARD: "award/award_category",
    EVENT: "award/award_ceremony olympics/olympic_games military/military_conflict base/culturalevent/event "
    "sports/sports_league_draft",
    LANGUAGE: "language/human_language",
    PEOPLE: "people/ethnicity",
    POSITION: "government/government_office_category business/job_title organization/role",
    OCCUPATION: "people/profession",
    DISEASE: "medicine/disease",
    SYMPTOM: "medicine/symptom",
    DISCIPLINE: "education/field_of_study",
    SPORT: "sports/sport olympics/olympic_sport",
    PRODUCT: "music/instrument food/food",
}
"""Prefixes of Freebase relations whose subject has a type."""

_OBJECT_TYPES: Final[Mapping[str, str]] = {
    PERSON: "student actor produced_by executive_produced_by written_by story_by spouse crewmember people director",
    LOCATION: "nationality location place_of_birth place_of_death country citytown state_province_region contains "
    "adjoins second_level_divisions location_of_ceremony administrative_parent film_release_region "
    "featured_film_locations district_represented jurisdiction_of_office",
    ORGANISATION: "team production_companies institution educational_institution",
    WORK: "film program",
    GENRE: "genre parent_genre",
    LANGUAGE: "language languages",
    RELIGION: "religion",
    OCCUPATION: "profession",
    AWARD: "award",
    EVENT: "ceremony olympics draft",
    SPORT: "sport sports",
    DISCIPLINE: "major_field_of_study",
    COLOUR: "colors",
}
"""Last parts of Freebase relations whose object has a type."""

_TYPE_BY_RELATION_PREFIX: Final = {name: type for type, names in _SUBJECT_TYPES.items() for name in names.split()}
_TYPE_BY_RELATION_END: Final = {name: type for type, names in _OBJECT_TYPES.items() for name in names.split()}


def infer_class_type(label: str) -> str | None:
    """Return the whitelist type of the members of a class, by the label of the class; None if unknown."""
    type = _find_phrase_type(label, _CLASS_PHRASES)
    if type is not None:
        return type
    head = _find_head_noun(label)
    return None if head in _OCCUPATION_NOUNS else _TYPE_BY_NOUN.get(head)


def infer_type(description: str) -> str | None:
    """Return the whitelist type of an entity, by a phrase or the head noun of its description; None if unknown.

    A description that starts with an article is about a general concept, so its type is unknown too.
    """
    if description.startswith(("a ", "an ", "the ", "any ", "type ", "person ", "one ")):
        return None
    type = _find_phrase_type(description, _DESCRIPTION_PHRASES)
    if type is not None:
        return type
    head = _find_head_noun(description)
    return None if head in _NOUNS_OF_CLASSES_ONLY else _TYPE_BY_NOUN.get(head)


def infer_relation_types(relations: Iterable[tuple[str, str, str]]) -> dict[str, frozenset[str]]:
    """Return the whitelist types of the entities in Freebase triples (subject, relation, object), by entity.

    The relations in which an entity is the subject decide; without such relations, those in which the entity is the
    object. Entities without type are omitted.
    """
    subject_types: dict[str, set[str]] = {}
    object_types: dict[str, set[str]] = {}
    for subject, relation, object in relations:
        parts = relation.split("/")[1:]
        type = _TYPE_BY_RELATION_PREFIX.get("/".join(parts[:2])) or _TYPE_BY_RELATION_PREFIX.get("/".join(parts[:3]))
        if type is not None:
            subject_types.setdefault(subject, set()).add(type)
        type = _TYPE_BY_RELATION_END.get(parts[-1])
        if type is not None:
            object_types.setdefault(object, set()).add(type)
    return {
        id: frozenset(drop_location_type(subject_types.get(id) or object_types[id]))
        for id in {**subject_types, **object_types}
    }


def drop_location_type(types: set[str]) -> set[str]:
    """Return the types without the location type if they include the organisation type: a school is no location."""
    return types - {LOCATION} if ORGANISATION in types else types


def _find_phrase_type(text: str, phrases: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the first type with a phrase that occurs in the text, ignoring case; None if there is none."""
    lower_text = text.lower()
    return next(
        (type for type, type_phrases in phrases.items() if any(phrase in lower_text for phrase in type_phrases)), None
    )


def _find_head_noun(text: str) -> str:
    """Return the last word before any preposition, participle or punctuation, in lower case; empty without words."""
    words = _AFTER_HEAD.split(text.strip(), maxsplit=1)[0].split()
    return words[-1].lower() if words else ""
