// The keys of the annotation page, in the order of the help.
import type { Project } from "./api";
import type { Editor } from "./editor";
import { isRightToLeft, moveLine } from "./text-view";

interface KeyCommand {
  keys: string[];
  /** The key as people read it. */
  title: string;
  description: string;
  run: (editor: Editor) => void;
}

const horizontalStep = (key: string): 1 | -1 => ((key === "ArrowRight") !== isRightToLeft() ? 1 : -1);

/** Commands of the annotation page; the key is as the browser reports it, in lower case. */
export const COMMANDS: readonly KeyCommand[] = [
  { keys: ["enter"], title: "Enter", description: "Link, or accept the suggestion", run: (editor) => editor.confirm() },
  { keys: ["l"], title: "L", description: "Link to another entity", run: (editor) => editor.openSearch("link") },
  {
    keys: ["0"],
    title: "0",
    description: "NIL, with a cluster name",
    run: (editor) => editor.openLabelPanel("cluster"),
  },
  { keys: ["q"], title: "Q", description: "Quantity", run: (editor) => editor.makeKind("quantity") },
  { keys: ["d"], title: "D", description: "Date or time", run: (editor) => editor.makeKind("datetime") },
  { keys: ["c"], title: "C", description: "Coreference", run: (editor) => editor.openSearch("coreference") },
  { keys: ["o"], title: "O", description: "Optional", run: (editor) => editor.toggleOptional() },
  {
    keys: ["a"],
    title: "A",
    description: "Alternative entity, such as the second label of a demonym",
    run: (editor) => (editor.current ? editor.openSearch("alternative") : editor.say("Select a label first.")),
  },
  { keys: ["s"], title: "S", description: "Alternative span", run: (editor) => editor.requestSpan("alternative") },
  { keys: ["w"], title: "W", description: "Alternative in several parts", run: (editor) => editor.requestSpan("part") },
  { keys: ["e"], title: "E", description: "Change the span", run: (editor) => editor.requestSpan("move") },
  { keys: ["t"], title: "T", description: "Type", run: (editor) => editor.openLabelPanel("types") },
  {
    keys: ["f"],
    title: "F",
    description: "Fine-grained categories",
    run: (editor) => editor.openLabelPanel("categories"),
  },
  { keys: ["m"], title: "M", description: "Note", run: (editor) => editor.openLabelPanel("note") },
  { keys: ["r"], title: "R", description: "Repeat for all occurrences of the text", run: (editor) => editor.repeat() },
  {
    keys: ["x", "delete", "backspace"],
    title: "X",
    description: "Delete, or reject the suggestion",
    run: (editor) => editor.remove(),
  },
  { keys: ["u"], title: "U", description: "Undo (also Ctrl+Z)", run: (editor) => editor.stepHistory("undo") },
  { keys: ["y"], title: "Y", description: "Redo (also Ctrl+Y)", run: (editor) => editor.stepHistory("redo") },
  { keys: ["n"], title: "N", description: "Next mention", run: (editor) => editor.stepMark(1) },
  { keys: ["p"], title: "P", description: "Previous mention", run: (editor) => editor.stepMark(-1) },
  {
    keys: ["j"],
    title: "J",
    description: "Next name or number without a label",
    run: (editor) => editor.moveToName(),
  },
  {
    keys: ["h"],
    title: "H",
    description: "History of the label",
    run: (editor) => editor.openLabelPanel("history"),
  },
  { keys: ["?"], title: "?", description: "Keys", run: (editor) => editor.openPanel({ kind: "help" }) },
];

/** Keys without a button of their own. */
export const MOVES: readonly (readonly [keys: string, description: string])[] = [
  ["← → ↑ ↓", "Move by word or line"],
  ["Shift + ← →", "Extend the span by words"],
  ["Alt + Shift + ← →", "Extend the span by characters"],
  ["B", "Extend at the other end"],
  ["Ctrl + ↑ ↓", "Move by paragraph"],
  ["Ctrl + Home, End", "Move to the start or end of the part to annotate"],
  ["Ctrl + Enter", "Finish the document"],
  ["Esc", "Close, or cancel"],
];

/** List the keys that do something in a project. */
export function listCommands({ scheme, types }: Project, hasServer = true): KeyCommand[] {
  return COMMANDS.filter(
    ({ title }) => (title !== "F" || scheme.length) && (title !== "T" || types.length) && (title !== "H" || hasServer),
  );
}

const COMMANDS_BY_KEY = new Map(COMMANDS.flatMap((command) => command.keys.map((key) => [key, command])));

/** Handle a key of the text; return whether it was used. */
export function handleTextKey(editor: Editor, event: KeyboardEvent, onFinish: () => void): boolean {
  const { key } = event;
  const hasControl = event.ctrlKey || event.metaKey;
  const name = key.toLowerCase();
  if (hasControl && name === "enter") onFinish();
  else if (hasControl && name === "z") editor.stepHistory(event.shiftKey ? "redo" : "undo");
  else if (hasControl && name === "y") editor.stepHistory("redo");
  else if (key === "ArrowRight" || key === "ArrowLeft") {
    const step = horizontalStep(key);
    if (event.altKey && event.shiftKey) editor.moveCharacter(step);
    else if (event.altKey || hasControl) return false;
    else editor.moveWord(step, event.shiftKey);
  } else if (key === "ArrowDown" || key === "ArrowUp") {
    const step = key === "ArrowDown" ? 1 : -1;
    if (hasControl) editor.moveParagraph(step);
    else if (event.altKey || event.shiftKey) return false;
    else moveLine(editor, step);
  } else if (hasControl && (name === "home" || name === "end")) editor.moveToBorder(name === "home" ? "start" : "end");
  else if (hasControl || event.altKey) return false;
  else if (name === "b") editor.swapEnds();
  else {
    const command = COMMANDS_BY_KEY.get(name);
    if (!command || (event.repeat && !["n", "p", "j", "u", "y"].includes(name))) return false;
    command.run(editor);
  }
  return true;
}
