// Paragraphs, words and characters of a text, by offsets in code points.
import { Stretch } from "../text";

export type Span = readonly [start: number, end: number];

/** A part of a paragraph that is drawn at once. */
export interface Piece {
  index: number;
  start: number;
  end: number;
}

export interface Paragraph {
  start: number;
  end: number;
  pieces: Piece[];
}

const PIECE_LENGTH = 800;
const BLOCK_LENGTH = 2000;
const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export const countCodePoints = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) count++;
  return count;
};

/** Find the last index of a sorted list whose key is at most `value`; -1 if there is none. */
export function findLastIndex<T>(items: readonly T[], value: number, key: (item: T) => number): number {
  let low = 0,
    high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Split a very long line after sentences, because a browser lays out a paragraph as a whole. */
function splitLongLine(line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > 2 * BLOCK_LENGTH) {
    const window = rest.slice(BLOCK_LENGTH, 2 * BLOCK_LENGTH);
    const end = /[.!?؟]\s+|[。！？]/u.exec(window) ?? /\s+/u.exec(window);
    const length = end
      ? BLOCK_LENGTH + end.index + end[0].length
      : 2 * BLOCK_LENGTH - (isHighSurrogate(window) ? 1 : 0);
    lines.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...lines, rest];
}

/** Check whether a text ends in the middle of a code point. */
const isHighSurrogate = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;

/** The layout of a text: lines as paragraphs, long ones in several pieces. */
export class TextIndex {
  readonly stretch: Stretch;
  readonly paragraphs: Paragraph[] = [];
  readonly pieces: Piece[] = [];
  private readonly words = new Map<number, Span[]>();

  constructor(text: string) {
    this.stretch = new Stretch(0, text);
    let offset = 0;
    for (const line of text.split(/(?<=\n)/).flatMap(splitLongLine)) {
      const end = offset + countCodePoints(line);
      this.paragraphs.push({ start: offset, end, pieces: this.splitLine(offset, end) });
      offset = end;
    }
  }

  get length(): number {
    return this.stretch.length;
  }

  slice(start: number, end: number): string {
    return this.stretch.slice(start, end);
  }

  private splitLine(start: number, end: number): Piece[] {
    const pieces: Piece[] = [];
    let pieceStart = start;
    while (pieceStart < end) {
      let pieceEnd = Math.min(pieceStart + PIECE_LENGTH, end);
      if (pieceEnd < end) {
        // Break after a space, so that no word or character is drawn in two pieces.
        const space = /\s(?=\S*$)/u.exec(this.slice(pieceStart, pieceEnd));
        if (space && space.index > 0)
          pieceEnd = pieceStart + countCodePoints(this.slice(pieceStart, pieceEnd).slice(0, space.index + 1));
      }
      const piece = { index: this.pieces.length, start: pieceStart, end: pieceEnd };
      this.pieces.push(piece);
      pieces.push(piece);
      pieceStart = pieceEnd;
    }
    return pieces;
  }

  /** List the pieces that a span touches. */
  getPieces(start: number, end: number): Piece[] {
    const first = Math.max(
      0,
      findLastIndex(this.pieces, start, (piece) => piece.start),
    );
    const last = findLastIndex(this.pieces, Math.max(start, end - 1), (piece) => piece.start);
    return this.pieces.slice(first, last + 1);
  }

  getParagraph(offset: number): number {
    return Math.max(
      0,
      findLastIndex(this.paragraphs, offset, (paragraph) => paragraph.start),
    );
  }

  /** List the words and symbols of a paragraph; punctuation and spaces are none. */
  getWords(paragraph: number): Span[] {
    const cachedWords = this.words.get(paragraph);
    if (cachedWords) return cachedWords;
    const { start, end } = this.paragraphs[paragraph];
    const words: Span[] = [];
    let offset = start;
    for (const { segment, isWordLike } of wordSegmenter.segment(this.slice(start, end))) {
      const length = countCodePoints(segment);
      // The possessive ending is no part of a name.
      const possessive = isWordLike ? /['’][sS]$/.exec(segment) : null;
      if (possessive && possessive.index > 0) words.push([offset, offset + length - 2]);
      else if (isWordLike || /[\p{Sc}\p{So}\p{Extended_Pictographic}%]/u.test(segment))
        words.push([offset, offset + length]);
      offset += length;
    }
    this.words.set(paragraph, words);
    return words;
  }

  /** Find the first word that starts at or after an offset. */
  findNextWord(offset: number): Span | null {
    for (let index = this.getParagraph(offset); index < this.paragraphs.length; index++) {
      const word = this.getWords(index).find(([start]) => start >= offset);
      if (word) return word;
    }
    return null;
  }

  /** Find the last word that ends at or before an offset. */
  findPreviousWord(offset: number): Span | null {
    for (let index = this.getParagraph(Math.max(0, offset - 1)); index >= 0; index--) {
      const word = this.getWords(index).findLast(([, end]) => end <= offset);
      if (word) return word;
    }
    return null;
  }

  /** Find the word at an offset, or the nearest one. */
  findWord(offset: number): Span | null {
    const words = this.getWords(this.getParagraph(offset));
    const nearest = words.find(([, end]) => end > offset) ?? words.at(-1);
    return nearest ?? this.findNextWord(offset) ?? this.findPreviousWord(offset);
  }

  /** Move an offset by one character as people count them. */
  moveCharacter(offset: number, step: 1 | -1): number {
    const from = Math.max(0, step > 0 ? offset : offset - 32);
    const to = Math.min(this.length, step > 0 ? offset + 32 : offset);
    const graphemes = [...graphemeSegmenter.segment(this.slice(from, to))].map(({ segment }) => segment);
    const grapheme = step > 0 ? graphemes[0] : graphemes.at(-1);
    return grapheme ? offset + step * countCodePoints(grapheme) : offset;
  }

  /** Shrink a span so that it neither starts nor ends with spaces. */
  trim(start: number, end: number): Span {
    const text = this.slice(start, end);
    const trimmedStart = start + countCodePoints(text) - countCodePoints(text.trimStart());
    const trimmedText = text.trim();
    return [trimmedStart, trimmedStart + countCodePoints(trimmedText)];
  }

  /** Find the next place where a text occurs, as whole words. */
  findOccurrences(phrase: string, start: number, end: number): Span[] {
    const text = this.slice(start, end);
    const spans: Span[] = [];
    const isWordCharacter = (character: string | undefined) => !!character && /[\p{L}\p{N}]/u.test(character);
    for (let index = phrase ? text.indexOf(phrase) : -1; index >= 0; index = text.indexOf(phrase, index + 1)) {
      if (isWordCharacter(text[index - 1]) || isWordCharacter(text[index + phrase.length])) continue;
      const offset = start + countCodePoints(text.slice(0, index));
      spans.push([offset, offset + countCodePoints(phrase)]);
    }
    return spans;
  }
}
