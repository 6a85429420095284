// A document with its tracks: the gold standard and every system as notes under a line of song.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { options } from "preact";
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { address, ask, but, route } from "../route";
import { type Data, expression, NOT_COUNTED, RIGHT } from "../data";
import { Bar_, chosenDataset, DatasetChoice, Entity, Hidden, Kind, KIND_CLASS, many, More, nameOf, number, outside, percent, Search, seenTracks, systemNames, titleOf, useData, useTexts, Wait } from "../parts";
import { type Cell, type Column, ranked, Sheet, sorting } from "../sheet";
import { columns, levelled, type Stretch } from "../text";
import { type Section, sections, type Spot, spots } from "../spots";
import { filterOf, NoCases } from "./cases";

export function Text() {
  const dataset = chosenDataset((one) => one.cases)!;
  if (!dataset.cases) return <><Bar_><DatasetChoice /></Bar_><NoCases /></>;
  return (
    <Wait for={useData(dataset.key)}>
      {(data) => {
        const doc = route.value.asked.doc === undefined ? -1 : data.doc(route.value.asked.doc);
        return doc < 0 ? <Documents data={data} dataset={dataset.key} /> : <Document key={`${dataset.key}:${doc}`} data={data} dataset={dataset.key} doc={doc} />;
      }}
    </Wait>
  );
}

/** All documents, with the share of mentions that each system gets. */
function Documents({ data, dataset }: { data: Data; dataset: string }) {
  const { asked } = route.value;
  const keep = asked.find ? expression(asked.find) : () => true;
  const shares = data.tracks.map((_, t) => {
    const right: number[] = [], all: number[] = [];
    data.byGold[t].forEach((row, g) => {
      const kind = row < 0 ? NOT_COUNTED : data.tracks[t].kind[row], doc = data.piece.gold.document[g];
      if (kind === NOT_COUNTED) return;
      all[doc] = (all[doc] ?? 0) + 1;
      right[doc] = (right[doc] ?? 0) + (kind === RIGHT ? 1 : 0);
    });
    return { right, all };
  });
  const seen = seenTracks(data);
  const found = data.piece.documents.map((_, doc) => doc).filter((doc) => keep(`${data.piece.documents[doc].id}\n${data.title(doc)}`));
  const at = data.tracks.findIndex((track) => nameOf(track.system) === sorting().by);
  const share = (t: number, doc: number) => (shares[t].all[doc] ? shares[t].right[doc] / shares[t].all[doc] : null);
  const docs = at >= 0 ? ranked(found, (doc) => share(at, doc)) : sorting().by === "mentions" ? ranked(found, (doc) => data.mentionsIn(doc).length) : found;
  const heads: Column[] = [{ title: "document" }, { title: "letters", kind: "number", minor: true }, { title: "mentions", kind: "number", sort: "mentions" }, ...seen.map((t): Column => ({ title: titleOf(data.tracks[t].system), kind: "number", sort: nameOf(data.tracks[t].system), minor: seen.length > 2 }))];
  const rows = docs.slice(0, many()).map((doc): Cell[] => [
    { plain: data.title(doc), shown: <a href={address("text", { dataset, doc: data.piece.documents[doc].id })} dir="auto">{data.title(doc)}</a> },
    { plain: number(data.piece.documents[doc].length) },
    { plain: number(data.mentionsIn(doc).length) },
    ...seen.map((t): Cell => ({ plain: percent(share(t, doc), 0), heat: share(t, doc) ?? undefined, shown: share(t, doc) === null ? undefined : <a class="plain" href={address("cases", { dataset, doc: data.piece.documents[doc].id, system: nameOf(data.tracks[t].system) })}>{percent(share(t, doc), 0)}</a> })),
  ]);
  return (
    <>
      <h1 class="answer"><b>{number(docs.length)}</b> documents. For each system the share of the mentions that it gets, in percent.</h1>
      <Bar_><DatasetChoice has={(one) => one.cases} /><Search says="documents" name="find" /><Hidden /></Bar_>
      <Sheet name="Documents" columns={heads} rows={rows} />
      <More shown={rows.length} all={docs.length} what="documents" />
    </>
  );
}

function Document({ data, dataset, doc }: { data: Data; dataset: string; doc: number }) {
  const { asked } = route.value;
  const own = data.piece.documents[doc];
  const texts = useTexts(dataset, data, [doc]);
  const chosen = asked.tracks ? asked.tracks.split(",") : null;
  const named = chosen ? data.tracks.map((_, t) => t).filter((t) => chosen.includes(nameOf(data.tracks[t].system))) : [];
  const tracks = named.length ? named : seenTracks(data);
  const key = tracks.join(",");
  const every = useMemo(() => spots(data, doc, tracks), [data, doc, key]);
  const [from, to] = (asked.at ?? "").split("-").map(Number);
  const selected = asked.at ? every.findIndex((spot) => spot.start < Math.max(to, from + 1) && from < spot.end) : -1;
  const shown = useSignal(-1), over = useSignal(-1);
  useSignalEffect(() => void (route.value, (shown.value = -1)));
  const filter = filterOf(asked);
  const filtered = Object.values(filter).some(Boolean);
  const cases = useMemo(() => (filtered ? data.filtered(filter, systemNames(), seenTracks(data)) : []), [data, JSON.stringify(filter)]);
  const step = (by: number) => {
    const here = [doc, asked.at ? from : by > 0 ? -1 : Infinity];
    if (filtered) {
      const places = cases.map((one) => [data.tracks[one.track].document[one.row], ...data.span(one)] as const);
      const later = (one: readonly number[]) => one[0] - here[0] || one[1] - here[1];
      const next = by > 0 ? places.find((one) => later(one) > 0) : places.findLast((one) => later(one) < 0);
      if (next) ask({ doc: data.piece.documents[next[0]].id, at: `${next[1]}-${next[2]}` });
      return;
    }
    const next = by > 0 ? every.find((spot) => spot.start > here[1]) : every.findLast((spot) => spot.start < here[1]);
    if (next) ask({ at: `${next.start}-${next.end}` }, true);
    else if (data.piece.documents[doc + by]) ask({ doc: data.piece.documents[doc + by].id, at: "" });
  };
  // At once, so that no key is lost between two places.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test((event.target as Element).tagName)) return;
      if (event.key === "n" || event.key === "j") step(1);
      else if (event.key === "p" || event.key === "k") step(-1);
      else if (event.key === "Escape") ask({ at: "" }, true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  const marked = useMemo(() => {
    const places = new Set<number>();
    for (const one of cases) if (data.tracks[one.track].document[one.row] === doc) places.add(every.findIndex((spot) => { const [start, end] = data.span(one); return spot.start < end && start < spot.end; }));
    return places;
  }, [cases, every]);
  const note = filtered ? `${number(marked.size)} places here are what you look for` : `${number(every.length)} places`;
  return (
    <div class="reading">
      <div class="page">
        <h1 dir="auto">{data.title(doc)}</h1>
        <Bar_>
          <a href={address("text", { dataset })}>all documents</a>
          <span class="steps">
            <button type="button" onClick={() => step(-1)}>previous <kbd>p</kbd></button>
            <button type="button" onClick={() => step(1)}>next <kbd>n</kbd></button>
          </span>
          <span class="quiet">{note}{filtered && <>, of {number(cases.length)} in all. <a href={address("text", { dataset, doc: own.id, at: asked.at, tracks: asked.tracks })}>Look at everything</a></>}</span>
        </Bar_>
        <Tracks data={data} tracks={tracks} />
        {own.block < 0 ? <Bare every={every} /> : (
          <Wait for={texts}>
            {(found) => <Sections data={data} stretches={found.get(doc) ?? []} every={every} tracks={tracks} selected={selected} marked={marked} span={own.span} point={(place, track) => { shown.value = place; over.value = track ?? -1; }} />}
          </Wait>
        )}
      </div>
      <Side data={data} dataset={dataset} doc={doc} every={every} tracks={tracks} selected={selected} shown={shown} over={over} />
    </div>
  );
}

/** What the tracks are, from the top, and which are shown. */
function Tracks({ data, tracks }: { data: Data; tracks: readonly number[] }) {
  const names = data.tracks.map((track) => nameOf(track.system));
  const toggle = (t: number) => {
    const next = tracks.includes(t) ? tracks.filter((one) => one !== t) : [...tracks, t].sort((a, b) => a - b);
    ask({ tracks: next.map((one) => names[one]).join(",") }, true);
  };
  return (
    <details class="tracks" open={innerWidth > 600}>
      <summary>Tracks from the top: gold, {tracks.map((t) => titleOf(data.tracks[t].system)).join(", ")}</summary>
      <ol>
        <li>gold</li>
        {data.tracks.map((track, t) => (
          <li key={t}>
            <label><input type="checkbox" checked={tracks.includes(t)} onChange={() => toggle(t)} />{tracks.includes(t) && <b>{tracks.indexOf(t) + 1}</b>} {titleOf(track.system)}</label>
          </li>
        ))}
      </ol>
      <ul class="legend">
        {data.piece.kinds.map((kind, place) => <li key={kind}><Sample kind={place} />{kind}</li>)}
      </ul>
    </details>
  );
}

/** A bar by itself, beside the word for it. */
function Sample({ kind }: { kind: number }) {
  return <span class="sample" aria-hidden="true"><i class={`b ${KIND_CLASS[kind]} s e`} /></span>;
}

interface Laid {
  data: Data;
  tracks: readonly number[];
  selected: number;
  marked: ReadonlySet<number>;
  point: (place: number, track?: number) => void;
}

function Sections({ stretches, every, span, ...rest }: Laid & { stretches: readonly Stretch[]; every: readonly Spot[]; span: [number, number] | null }) {
  const parts = useMemo(() => sections(stretches, every), [stretches, every]);
  const places = useMemo(() => new Map(every.map((spot, place) => [spot, place])), [every]);
  const heights = useMemo(() => levelled(every.flatMap((spot) => spot.bars), rest.tracks.length), [every]);
  if (!parts.length) return <p class="quiet">Nothing of this text is shown.</p>;
  return (
    <div class="document" dir="auto">
      {parts.map((part, place) => <LazySection key={place} part={part} places={places} heights={heights} span={span} first={place === 0} {...rest} />)}
    </div>
  );
}

/** Whether the page goes to a printer, which asks for everything, and at once. */
const printing = signal(false);
const atOnce = (print: boolean) => () => {
  const before = options.debounceRendering;
  options.debounceRendering = (run) => run();
  printing.value = print;
  options.debounceRendering = before;
};
addEventListener("beforeprint", atOnce(true));
addEventListener("afterprint", atOnce(false));

/** Sections are laid out when they come near; until then something of about their height stands for them. */
function LazySection({ first, ...given }: Laid & { part: Section; places: Map<Spot, number>; heights: number[]; span: [number, number] | null; first: boolean }) {
  const holder = useRef<HTMLDivElement>(null);
  const inside = given.part.spots.some((spot) => given.places.get(spot) === given.selected);
  const [near, set] = useState(first);
  useEffect(() => {
    if (near) return;
    const watch = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && set(true), { rootMargin: "1500px" });
    watch.observe(holder.current!);
    return () => watch.disconnect();
  }, [near]);
  const ready = near || inside || printing.value;
  useEffect(() => {
    if (!inside) return;
    const found = holder.current?.querySelector<HTMLElement>(".spot.selected");
    if (!found) return;
    const box = found.getBoundingClientRect();
    const narrow = innerWidth <= 900; // then the card covers the lower part
    if (box.top < 140 || box.bottom > innerHeight * (narrow ? 0.5 : 0.95)) found.scrollIntoView({ block: narrow ? "start" : "center" });
    if (document.activeElement === document.body || document.activeElement?.classList.contains("spot")) found.focus({ preventScroll: true });
  }, [given.selected, inside]);
  const lines = Math.ceil((given.part.end - given.part.start) / 90) * (30 + 8 * given.tracks.length);
  return <div ref={holder} class="section" style={ready ? undefined : { height: `${lines}px` }}>{ready && <Laid_ {...given} />}</div>;
}

function Laid_({ data, part, places, heights, tracks, selected, marked, span, point }: Laid & { part: Section; places: Map<Spot, number>; heights: number[]; span: [number, number] | null }) {
  const made = [];
  let place = part.start;
  const outsideSpan = (offset: number) => span !== null && (offset < span[0] || offset >= span[1]);
  const plain = (to: number) => {
    if (to <= place) return;
    const cuts = [place, ...(span ?? []).filter((cut) => cut > place && cut < to), to];
    for (let at = 0; at + 1 < cuts.length; at++) made.push(<span key={`t${cuts[at]}`} class={outsideSpan(cuts[at]) ? "unscored" : undefined}>{part.stretch.slice(cuts[at], cuts[at + 1])}</span>);
    place = to;
  };
  if (part.cut) made.push(<span key="cut" class="quiet"> … </span>);
  for (const spot of part.spots) {
    plain(spot.start);
    if (spot.start < place) continue;
    const number_ = places.get(spot)!;
    made.push(<SpotColumns key={`s${spot.start}`} data={data} spot={spot} stretch={part.stretch} heights={heights} tracks={tracks} place={number_} selected={number_ === selected} marked={marked.has(number_)} point={point} />);
    place = spot.end;
  }
  plain(part.end);
  return <>{made}</>;
}

function SpotColumns({ data, spot, stretch, heights, tracks, place, selected, marked, point }: { data: Data; spot: Spot; stretch: Stretch; heights: number[]; tracks: readonly number[]; place: number; selected: boolean; marked: boolean; point: (place: number, track?: number) => void }) {
  const borders = new Set(spot.bars.flatMap((bar) => [bar.start, bar.end]));
  const parts = columns(stretch, spot.start, spot.end, borders);
  const groups: (typeof parts)[] = [];
  for (const column of parts) column.breaks || !groups.length ? groups.push([column]) : groups.at(-1)!.push(column);
  return (
    <a class={`spot${selected ? " selected" : ""}${marked ? " marked" : ""}`} href={but({ at: `${spot.start}-${spot.end}` })} aria-label={told(data, spot, tracks, stretch)} aria-current={selected ? "true" : undefined} onMouseOver={(event) => point(place, Number((event.target as Element).closest<HTMLElement>(".track")?.dataset.track ?? -1))} onFocus={() => point(place)} onClick={(event) => { event.preventDefault(); ask({ at: `${spot.start}-${spot.end}` }, true); }}>
      {groups.map((group) => (
        <span class="kept" key={group[0].start}>
          {group.map((column) => (
            <span class="column" key={column.start}>
              <span class="letters">{column.text}</span>
              {heights.map((rows, track) => (
                <span class={track === 0 ? "track gold" : "track"} data-track={track - 1} key={track} title={track === 0 ? "gold" : titleOf(data.tracks[tracks[track - 1]].system)}>
                  {Array.from({ length: rows }, (_, level) => {
                    const bar = spot.bars.find((one) => one.track === track - 1 && one.level === level && one.start < column.end && column.start < one.end);
                    return <i key={level} class={bar ? `b ${KIND_CLASS[bar.kind]}${bar.start >= column.start ? " s" : ""}${bar.end <= column.end ? " e" : ""}` : "b"} />;
                  })}
                </span>
              ))}
            </span>
          ))}
        </span>
      ))}
    </a>
  );
}

/** A spot in words, for who does not see the bars. */
function told(data: Data, spot: Spot, tracks: readonly number[], stretch: Stretch): string {
  const gold = spot.bars.filter((bar) => bar.track < 0).map((bar) => `gold ${data.name(data.piece.gold.entity[bar.row])}`);
  const own = spot.bars.filter((bar) => bar.track >= 0).map((bar) => `${titleOf(data.tracks[tracks[bar.track]].system)} ${data.piece.kinds[bar.kind]}`);
  return `${stretch.slice(spot.start, spot.end)}: ${[...gold, ...own].join(", ")}`;
}

/** Without the text: the places in order. */
function Bare({ every }: { every: readonly Spot[] }) {
  return (
    <div class="bare">
      <p class="quiet">The texts are not in here (--texts none). Places are told by their offsets.</p>
      <p>{every.map((spot) => <><a key={spot.start} href={but({ at: `${spot.start}-${spot.end}` })}>{spot.start}–{spot.end}</a>{" "}</>)}</p>
    </div>
  );
}

/** The card of the spot that is pointed at, or else of the one that was chosen. */
function Side({ data, dataset, doc, every, tracks, selected, shown, over }: { data: Data; dataset: string; doc: number; every: readonly Spot[]; tracks: readonly number[]; selected: number; shown: { value: number }; over: { value: number } }) {
  const spot = every[shown.value >= 0 ? shown.value : selected];
  if (!spot) return <aside class="card" aria-label="Card"><p class="quiet">Point at a bar, or press <kbd>n</kbd> for the next place.</p></aside>;
  const { gold } = data.piece;
  const golds = spot.bars.filter((bar) => bar.track < 0).map((bar) => bar.row);
  const types = (g: number) => data.piece.types[gold.types[g]];
  return (
    <aside class="card" aria-label="Card">
      <button type="button" class="close" onClick={() => ask({ at: "" }, true)}>close</button>
      {golds.map((g) => (
        <section key={g}>
          <h2 dir="auto">{data.goldSurface(g)}</h2>
          <p>
            gold: <Linked data={data} entity={gold.entity[g]} dataset={dataset} told />{gold.optional[g] ? <span class="quiet"> (optional)</span> : null}
            {(gold.others[g] ?? []).map((other) => <><span class="quiet"> or </span><Linked key={other} data={data} entity={other} dataset={dataset} told /></>)}
          </p>
          {types(g).length > 0 && <p class="quiet">{types(g).join(", ")}</p>}
        </section>
      ))}
      {!golds.length && <section><h2 dir="auto">{data.surface({ track: tracks[spot.bars[0].track], row: spot.bars[0].row })}</h2><p class="quiet">No mention in the gold standard.</p></section>}
      <ul class="said">
        {tracks.map((t, place) => {
          const track = data.tracks[t];
          const rows = data.rowsIn(t, doc).filter((row) => { const [start, end] = data.span({ track: t, row }); return start < spot.end && spot.start < end; });
          return (
            <li key={t} class={over.value === place ? "now" : undefined}>
              <b><span class="quiet">{place + 1}</span> {titleOf(track.system)}</b>
              {!rows.length && <p class="quiet">says nothing</p>}
              {rows.map((row) => {
                const errors = data.errors({ track: t, row });
                const answered = track.start[row] >= 0;
                return (
                  <p key={row}>
                    <Sample kind={track.kind[row]} /> <Kind data={data} kind={track.kind[row]} />{" "}
                    {answered && <>{golds.length !== 1 || track.start[row] !== gold.start[golds[0]] || track.end[row] !== gold.end[golds[0]] ? <span class="quiet" dir="auto">“{data.surface({ track: t, row })}” </span> : null}<Linked data={data} entity={track.entity[row]} dataset={dataset} told={!golds.some((g) => gold.entity[g] === track.entity[row])} /></>}
                    {track.score.length > 0 && track.score[row] !== null && <span class="quiet">, score {track.score[row]}</span>}
                    {track.candidates.length > 0 && track.candidates[row] > 0 && answered && track.gold[row] >= 0 && <span class="quiet">, {track.candidates[row]} candidate{track.candidates[row] === 1 ? "" : "s"}, {track.rank[row] ? `gold is no. ${track.rank[row]}` : "gold not among them"}</span>}
                    {errors.length > 0 && <span class="errors">{errors.map((error) => <a key={error} href={address("cases", { dataset, system: nameOf(track.system), error })} title={data.category(error).says}>{data.category(error).title}</a>)} <span class="quiet">{data.category(errors[1] ?? errors[0]).says}</span></span>}
                  </p>
                );
              })}
            </li>
          );
        })}
      </ul>
      {golds.length > 0 && <p><a href={address("mention", { dataset, surface: data.goldSurface(golds[0]) })}>Everything about “{data.goldSurface(golds[0])}”</a></p>}
    </aside>
  );
}

/** An entity, its id in the knowledge base, and if it is to be told what it is. */
function Linked({ data, entity, dataset, told }: { data: Data; entity: number; dataset: string; told?: boolean }) {
  const page = entity >= 0 ? outside(data.id(entity)) : null;
  return (
    <>
      <Entity data={data} entity={entity} dataset={dataset} told={false} />
      {entity >= 0 && data.name(entity) !== data.id(entity) && <span class="quiet id"> {page ? <a href={page} target="_blank" rel="noopener noreferrer">{data.id(entity)}</a> : data.id(entity)}</span>}
      {told && data.description(entity) && <span class="quiet" dir="auto">, {data.description(entity)}</span>}
    </>
  );
}
