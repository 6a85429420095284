// Drawings into files.

/** Save a drawing, as it is or as dots twice as fine as it is large. */
export async function saveDrawing(drawing: string, name: string, kind: "SVG" | "PNG"): Promise<void> {
  const blob = new Blob([drawing], { type: "image/svg+xml" });
  const file = `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "karat"}.${kind.toLowerCase()}`;
  save(kind === "SVG" ? blob : await dots(blob), file);
}

async function dots(drawing: Blob): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(drawing);
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const pen = canvas.getContext("2d")!;
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((give, fail) => canvas.toBlob((made) => (made ? give(made) : fail(new Error("The picture is too large.")))));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(blob: Blob, file: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const SEEN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "font-family", "opacity"];

/** A drawing of the page with the style that it is seen in, which stands by itself. */
export function standing(own: SVGSVGElement): string {
  const copy = own.cloneNode(true) as SVGSVGElement;
  const box = own.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  copy.style.background = getComputedStyle(document.documentElement).backgroundColor;
  const from = own.querySelectorAll("*"), to = copy.querySelectorAll<SVGElement>("*");
  from.forEach((one, at) => {
    const seen = getComputedStyle(one);
    for (const name of SEEN) to[at].style.setProperty(name, seen.getPropertyValue(name));
  });
  return copy.outerHTML;
}
