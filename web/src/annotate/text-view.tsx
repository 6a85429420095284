// The text with its labels as lines below the words. A change draws only the pieces again that it touches.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Editor } from "./editor";
import type { Mark } from "./labels";
import { countCodePoints, type Paragraph, type Piece } from "./text-index";

const MAX_LEVEL = 5;

/** Name the class of a line: its kind, and whether it is a suggestion or optional. */
function markClass({ label, isSuggestion, level }: Mark, isCurrent: boolean, severity?: string): string {
  const kind =
    label.kind === "quantity" || label.kind === "datetime"
      ? "number"
      : label.kind === "coreference"
        ? "coreference"
        : label.entity === null
          ? "nil"
          : label.entity === undefined
            ? "unlinked"
            : "linked";
  const classes = ["line", `level-${Math.min(level, MAX_LEVEL)}`, isSuggestion ? "suggestion" : kind];
  if (label.optional && !isSuggestion) classes.push("optional");
  if (isCurrent) classes.push("current");
  if (severity) classes.push(severity === "hint" ? "finding hint-finding" : "finding");
  return classes.join(" ");
}

function PieceView({ editor, piece }: { editor: Editor; piece: Piece }) {
  const { document } = editor;
  document.pieceVersions[piece.index].value; // draw again when it changes
  const element = useRef<HTMLSpanElement>(null);
  const cursor = editor.cursor.peek();
  const currentId = editor.currentId.peek();
  const hasCursor = cursor.start < piece.end && cursor.end > piece.start;
  useLayoutEffect(() => {
    if (!editor.needsScroll || !hasCursor || cursor.start < piece.start) return;
    editor.needsScroll = false;
    element.current?.querySelector(".now")?.scrollIntoView({ block: "nearest" });
  });
  const marks = document.getMarks(piece.start, piece.end);
  const [first, last] = document.span;
  const borders = new Set([piece.start, piece.end]);
  const addBorder = (offset: number) => offset > piece.start && offset < piece.end && borders.add(offset);
  for (const { label } of marks) {
    addBorder(label.start);
    addBorder(label.end);
  }
  for (const offset of [cursor.start, cursor.end, first, last]) addBorder(offset);
  const offsets = [...borders].sort((a, b) => a - b);
  return (
    <span ref={element}>
      {offsets.slice(1).map((end, index) => {
        const start = offsets[index];
        let content: ComponentChildren = document.index.slice(start, end);
        if (cursor.start <= start && end <= cursor.end) content = <mark class="now">{content}</mark>;
        for (const mark of marks) {
          if (mark.label.start > start || mark.label.end < end) continue;
          const className = markClass(mark, mark.id === currentId, document.getSeverity(mark));
          const isLast = mark.label.end === end;
          content = <span class={isLast ? `${className} last` : className}>{content}</span>;
        }
        const isOutside = end <= first || start >= last;
        return (
          <span key={start} data-offset={start} class={isOutside ? "unscored" : undefined}>
            {content}
          </span>
        );
      })}
    </span>
  );
}

function ParagraphView({ editor, paragraph }: { editor: Editor; paragraph: Paragraph }): VNode {
  return (
    <div class="paragraph" dir="auto">
      {paragraph.pieces.map((piece) => (
        <PieceView key={piece.index} editor={editor} piece={piece} />
      ))}
    </div>
  );
}

/** Get the offset in the document of a position in the page; null outside the text. */
function getOffset(node: Node, nodeOffset: number): number | null {
  const element = (node instanceof Element ? node : node.parentElement)?.closest<HTMLElement>("[data-offset]");
  if (element) {
    const range = document.createRange();
    range.setStart(element, 0);
    range.setEnd(node, nodeOffset);
    return Number(element.dataset.offset) + countCodePoints(range.toString());
  }
  const child = node.childNodes[nodeOffset];
  const next = child instanceof Element ? child.querySelector<HTMLElement>("[data-offset]") : null;
  return next ? Number(next.dataset.offset) : null;
}

/** Get the offset at a point of the screen. */
function getOffsetAt(x: number, y: number): number | null {
  if (document.caretPositionFromPoint) {
    const position = document.caretPositionFromPoint(x, y);
    return position ? getOffset(position.offsetNode, position.offset) : null;
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? getOffset(range.startContainer, range.startOffset) : null;
}

/** Move the cursor to the line above or below. */
export function moveLine(editor: Editor, step: 1 | -1) {
  const rects = [...(document.querySelector(".annotated .now")?.getClientRects() ?? [])];
  const rect = step > 0 ? rects.at(-1) : rects[0];
  if (!rect) return;
  const { index } = editor.document;
  const { start, end } = editor.cursor.peek();
  const x = (rect.left + rect.right) / 2;
  for (let distance = 1; distance <= 8; distance++) {
    const y = (rect.top + rect.bottom) / 2 + step * distance * rect.height * 0.6;
    if (y < 0 || y > innerHeight) break;
    const offset = getOffsetAt(x, y);
    if (offset === null || (offset >= start && offset <= end) || (step > 0 ? offset < end : offset > start)) continue;
    if (!index.getWords(index.getParagraph(offset)).length) continue; // an empty line
    return editor.moveTo(offset);
  }
  editor.moveParagraph(step);
}

/** Tell whether the text at the cursor runs from right to left. */
export function isRightToLeft(): boolean {
  const element = document.querySelector(".annotated .now")?.closest(".paragraph");
  return !!element && getComputedStyle(element).direction === "rtl";
}

/** The text of an editor, or only the paragraphs from one to another. */
export function TextView({
  editor,
  label,
  paragraphs = [0, Number.POSITIVE_INFINITY],
}: {
  editor: Editor;
  label: string;
  paragraphs?: [first: number, last: number];
}) {
  const container = useRef<HTMLDivElement>(null);
  const hasMarked = useRef(false); // the click that ends a selection does nothing else
  useLayoutEffect(() => {
    editor.focusText = () => container.current?.focus({ preventScroll: true });
  }, [editor]);
  useEffect(() => {
    const markSelection = () => {
      hasMarked.current = false;
      const selection = getSelection();
      if (!selection?.rangeCount || selection.isCollapsed) return;
      const range = selection.getRangeAt(0);
      if (!container.current?.contains(range.startContainer)) return;
      const start = getOffset(range.startContainer, range.startOffset);
      const end = container.current.contains(range.endContainer)
        ? (getOffset(range.endContainer, range.endOffset) ?? editor.document.index.length)
        : editor.document.index.length;
      if (start === null || start >= end) return;
      selection.removeAllRanges();
      hasMarked.current = true;
      const span = editor.document.index.trim(start, end);
      if (span[0] >= span[1]) return;
      editor.setCursor(span[0], span[1]);
      if (!editor.current && !editor.spanRequest.peek()) editor.openSearch("link");
    };
    addEventListener("mouseup", markSelection);
    return () => removeEventListener("mouseup", markSelection);
  }, [editor]);
  const handleClick = (event: MouseEvent) => {
    if (hasMarked.current) return;
    const offset = getOffsetAt(event.clientX, event.clientY);
    if (offset === null) return;
    if (editor.panel.peek()) editor.closePanel();
    if (editor.spanRequest.peek()) editor.moveTo(offset);
    else editor.selectAt(offset);
  };
  return (
    <div
      ref={container}
      class="document annotated"
      role="group"
      aria-label={label}
      aria-describedby="annotation-status"
      tabIndex={0}
      onClick={handleClick}
    >
      {editor.document.index.paragraphs.slice(paragraphs[0], paragraphs[1] + 1).map((paragraph) => (
        <ParagraphView key={paragraph.start} editor={editor} paragraph={paragraph} />
      ))}
    </div>
  );
}
