"""Demonyms of countries and some of their parts, entered by hand: country code, then its demonyms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_DEMONYMS: Final = """
AD Andorran Andorrans
AE Emirati Emiratis
AF Afghan Afghans Afghani
AG Antiguan Antiguans Barbudan
AL Albanian Albanians
AM Armenian Armenians
AO Angolan Angolans
AR Argentine Argentines Argentinian Argentinians Argentinean
AT Austrian Austrians
AU Australian Australians Aussie Aussies
AZ Azerbaijani Azerbaijanis Azeri
BA Bosnian Bosnians Herzegovinian
BB Barbadian Barbadians Bajan
BD Bangladeshi Bangladeshis
BE Belgian Belgians
BF Burkinabe Burkinabé
BG Bulgarian Bulgarians
BH Bahraini Bahrainis
BI Burundian Burundians
BJ Beninese
BN Bruneian Bruneians
BO Bolivian Bolivians
BR Brazilian Brazilians
BS Bahamian Bahamians
BT Bhutanese
BW Botswanan Motswana Batswana
BY Belarusian Belarusians Belarussian
BZ Belizean Belizeans
CA Canadian Canadians
CD Congolese
CF Central_African
CG Congolese
CH Swiss
CI Ivorian Ivorians
CL Chilean Chileans
CM Cameroonian Cameroonians
CN Chinese
CO Colombian Colombians
CR Costa_Rican Costa_Ricans
CU Cuban Cubans
CV Cape_Verdean Cape_Verdeans
CY Cypriot Cypriots
CZ Czech Czechs
DE German Germans
DJ Djiboutian Djiboutians
DK Danish Dane Danes
DM Dominican Dominicans
DO Dominican Dominicans
DZ Algerian Algerians
EC Ecuadorian Ecuadorians Ecuadorean
EE Estonian Estonians
EG Egyptian Egyptians
ER Eritrean Eritreans
ES Spanish Spaniard Spaniards
ET Ethiopian Ethiopians
FI Finnish Finn Finns
FJ Fijian Fijians
FM Micronesian Micronesians
FR French Frenchman Frenchmen Frenchwoman
GA Gabonese
GB British Briton Britons Brit Brits
GD Grenadian Grenadians
GE Georgian Georgians
GH Ghanaian Ghanaians
GM Gambian Gambians
GN Guinean Guineans
GQ Equatoguinean Equatorial_Guinean
GR Greek Greeks Hellenic
GT Guatemalan Guatemalans
GW Bissau-Guinean
GY Guyanese
HN Honduran Hondurans
HR Croatian Croatians Croat Croats
HT Haitian Haitians
HU Hungarian Hungarians
ID Indonesian Indonesians
IE Irish Irishman Irishmen
IL Israeli Israelis
IN Indian Indians
IQ Iraqi Iraqis
IR Iranian Iranians Persian Persians
IS Icelandic Icelander Icelanders
IT Italian Italians
JM Jamaican Jamaicans
JO Jordanian Jordanians
JP Japanese
KE Kenyan Kenyans
KG Kyrgyz Kyrgyzstani
KH Cambodian Cambodians
KI I-Kiribati
KM Comorian Comorians
KN Kittitian Nevisian
KP North_Korean North_Koreans
KR South_Korean South_Koreans
KW Kuwaiti Kuwaitis
KZ Kazakh Kazakhs Kazakhstani
LA Lao Laotian Laotians
LB Lebanese
LC Saint_Lucian
LI Liechtensteiner Liechtensteiners
LK Sri_Lankan Sri_Lankans
LR Liberian Liberians
LS Basotho Mosotho
LT Lithuanian Lithuanians
LU Luxembourgish Luxembourger Luxembourgers
LV Latvian Latvians
LY Libyan Libyans
MA Moroccan Moroccans
MC Monégasque Monegasque
MD Moldovan Moldovans
ME Montenegrin Montenegrins
MG Malagasy
MH Marshallese
MK Macedonian Macedonians
ML Malian Malians
MM Burmese
MN Mongolian Mongolians
MR Mauritanian Mauritanians
MT Maltese
MU Mauritian Mauritians
MV Maldivian Maldivians
MW Malawian Malawians
MX Mexican Mexicans
MY Malaysian Malaysians
MZ Mozambican Mozambicans
NA Namibian Namibians
NE Nigerien Nigeriens
NG Nigerian Nigerians
NI Nicaraguan Nicaraguans
NL Dutch Dutchman Dutchmen
NO Norwegian Norwegians
NP Nepali Nepalese Nepalis
NR Nauruan Nauruans
NZ New_Zealander New_Zealanders Kiwi Kiwis
OM Omani Omanis
PA Panamanian Panamanians
PE Peruvian Peruvians
PG Papua_New_Guinean
PH Filipino Filipinos Philippine
PK Pakistani Pakistanis
PL Polish Pole Poles
PS Palestinian Palestinians
PT Portuguese
PW Palauan Palauans
PY Paraguayan Paraguayans
QA Qatari Qataris
RO Romanian Romanians
RS Serbian Serbians Serb Serbs
RU Russian Russians
RW Rwandan Rwandans
SA Saudi Saudis Saudi_Arabian
SB Solomon_Islander
SC Seychellois
SD Sudanese
SE Swedish Swede Swedes
SG Singaporean Singaporeans
SI Slovenian Slovenians Slovene Slovenes
SK Slovak Slovaks Slovakian
SL Sierra_Leonean Sierra_Leoneans
SM Sammarinese
SN Senegalese
SO Somali Somalis Somalian
SR Surinamese
SS South_Sudanese
ST São_Toméan
SV Salvadoran Salvadorans Salvadorean
SY Syrian Syrians
SZ Swazi Swazis
TD Chadian Chadians
TG Togolese
TH Thai Thais
TJ Tajik Tajiks Tajikistani
TL Timorese
TM Turkmen Turkmens
TN Tunisian Tunisians
TO Tongan Tongans
TR Turkish Turk Turks
TT Trinidadian Trinidadians Tobagonian
TV Tuvaluan Tuvaluans
TW Taiwanese
TZ Tanzanian Tanzanians
UA Ukrainian Ukrainians
UG Ugandan Ugandans
US American Americans
UY Uruguayan Uruguayans
UZ Uzbek Uzbeks Uzbekistani
VA Vatican
VC Vincentian
VE Venezuelan Venezuelans
VN Vietnamese
VU Ni-Vanuatu
WS Samoan Samoans
XK Kosovar Kosovars Kosovan
YE Yemeni Yemenis
ZA South_African South_Africans
ZM Zambian Zambians
ZW Zimbabwean Zimbabweans
GB-ENG English Englishman Englishmen
GB-SCT Scottish Scot Scots
GB-WLS Welsh Welshman Welshmen
GB-NIR Northern_Irish
"""


def iterate_demonyms() -> Iterator[tuple[str, str]]:
    """Yield pairs of a demonym and its country code, such as `German` and `DE`."""
    for line in _DEMONYMS.split("\n"):
        code, *words = line.split() or [""]
        yield from ((word.replace("_", " "), code) for word in words)
