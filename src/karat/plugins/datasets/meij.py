"""Meij: tweets and the entities they are about."""

from karat.model.spec.dataset import Counts, Dataset, Remark, Repair, Split, Version, bat_file

_FILES = (
    bat_file(
        "meij/original_tweets.list",
        "db7d2893c739c8efd875932c37bfb4bd38d0b77a70306a736a464aa00e034f97",
        size=77984,
        commit="HEAD",
    ),
    bat_file(
        "meij/wsdm2012_annotations.txt",
        "4093941cc126fd85b42f0dcdf6f98660a3986c5370557fa4c4c9ec08c195d95a",
        size=33276,
        commit="089e7958135a44a21b67420d2c48c800a5dfc754",
    ),
)
_EMPTY_ROWS = Repair(
    location="wsdm2012_annotations.txt",
    fault="rows with page id -1, for tweets without entities",
    remedy="the reader keeps the tweet without tags and counts the row",
    count=127,
)
_SPLIT = Split(
    format="meij",
    files=_FILES,
    main_file="bat/meij",
    counts=Counts(documents=502, labels=0, tags=812),
    repairs=(_EMPTY_ROWS,),
)

DATASET = Dataset(
    title="Meij",
    description="Tweets of at most 140 characters with all entities they are about, without mentions.",
    tasks=("c2kb", "rc2kb"),
    language="en",
    domain="tweets",
    document_type="short texts",
    licence="Not stated; the tweets belong to their authors",
    citation="Meij et al. 2012: Adding Semantics to Microblog Posts. WSDM.",
    kb="wikipedia",
    sources=("https://github.com/marcocor/bat-framework",),
    versions={
        "meij2012": Version.from_split(
            description="The original tweets.",
            split=_SPLIT,
        ),
        "bat2013": Version.from_split(
            description="With the texts that BAT passes to systems: URLs are replaced by spaces, which also "
            "affects words such as 'rabbit' that contain 'bit'.",
            split=_SPLIT.add_steps({"clean-tweets": 0}),
        ),
    },
    biases=(
        Remark("Tweets are very short and informal.", "Cornolti et al. 2013, section 4"),
        Remark("127 of the 502 tweets have no entity.", "counted in the files"),
    ),
)
