"""The tables of the BAT paper as printed, with columns separated by two or more spaces.

In the paper the first row of each block also has the mean length of the documents of its dataset.
"""

from __future__ import annotations

TABLE_1 = """
Problem  Input                   Output
D2W      Text, Set of mentions   Set of relevant annotations
A2W      Text                    Set of relevant annotations
Sa2W     Text                    Set of relevant and scored annotations
C2W      Text                    Set of relevant tags
Sc2W     Text                    Set of relevant and scored tags.
Rc2W     Text                    Ranked list of relevant tags
"""

TABLE_2 = """
Name               Addressed problem
AIDA               Sa2W, D2W
CMNS               C2W
CSAW               Sa2W
Illinois Wikifier  Sa2W, D2W
DBpedia Spotlight  Sa2W
TagMe              Sa2W
Wikipedia Miner    Sa2W
"""

TABLE_3 = """
Dataset     Gold Standard  Num Docs  Avg length  Num Anns  Avg Anns/Doc
AIDA/CONLL  A2W            231       1039        4485      19.4
AQUAINT     A2W            50        1415        727       14.5
MSNBC       A2W            20        3316        658       32.9
IITB        A2W            103       3879        11245     109.1
Meij        C2W            502       80          812       1.6
"""

TABLE_4 = """
Experiment    Type       Datasets                     Problem  Match-relations
Experiment 1  News       AIDA/CONLL, AQUAINT, MSNBC   A2W      M_a, M_w, M_m, M_e
Experiment 2  Tweets     Meij                         C2W      M_t
Experiment 3  Web pages  IITB                         A2W      M_a, M_w, M_m, M_e
"""


TABLE_9 = """
Annotator           AIDA-CocktailParty  AIDA-PriorityOnly  DBPed. Spotl.  Illinois Wik.  TagMe 2  Wikip. Miner
AIDA-Local          93/96               87/91              41/41          42/49          47/48    50/56
AIDA-CocktailParty  100/100             85/89              42/41          42/49          46/49    49/55
AIDA-PriorityOnly   –                   100/100            43/41          41/47          47/48    51/56
DBPedia Spotlight   –                   –                  100/100        45/46          53/51    55/48
Illinois Wikifier   –                   –                  –              100/100        63/68    65/69
TagMe 2             –                   –                  –              –              100/100  70/68
Wikipedia Miner     –                   –                  –              –              –        100/100
"""


TABLE_12 = """
System              Meij  AIDA/CONLL  AQUAINT  MSNBC  IITB
AIDA-Local          2228  13003       12030    22957  21535
AIDA-CocktailParty  865   16876       13913    28335  30402
AIDA-PriorityOnly   78    623         633      1187   1363
DBpedia Spotlight   1057  9045        168      1289   1236
Illinois Wikifier   102   1277        1303     3891   2801
TagMe 2             1     33          42       103    127
Wikipedia Miner     17    171         126      1282   1245
"""
