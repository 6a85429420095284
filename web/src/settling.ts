// Scrolling to a target while documents around it are still being rendered.

let stopSettling: (() => void) | null = null;

/** Scroll to a target, and again whenever the content changes its size, until it is at rest or the reader acts. */
export function settle(content: Element, scrollToTarget: () => void): void {
  stopSettling?.();
  let timer = 0;
  const observer = new ResizeObserver(() => {
    scrollToTarget();
    clearTimeout(timer);
    timer = setTimeout(stop, 700);
  });
  const inputs = ["wheel", "touchstart", "keydown", "pointerdown"];
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const name of inputs) removeEventListener(name, stop, true);
    if (stopSettling === stop) stopSettling = null;
  };
  stopSettling = stop;
  for (const name of inputs) addEventListener(name, stop, true);
  observer.observe(content);
}

/** Whether the page is still scrolling to a target by itself. */
export const isSettling = (): boolean => stopSettling !== null;
