// Saving SVG drawings as files.

/** Escape text for XML, which has no control characters. */
export const escapeXml = (text: string): string =>
  text.replace(/[^\P{Cc}\t\n]/gu, "\ufffd").replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);

/** Save a drawing as SVG, or as PNG at twice its size. */
export async function saveDrawing(drawing: string, name: string, kind: "SVG" | "PNG"): Promise<void> {
  const blob = new Blob([drawing], { type: "image/svg+xml" });
  const fileName = `${
    name
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60) || "karat"
  }.${kind.toLowerCase()}`;
  downloadBlob(kind === "SVG" ? blob : await rasteriseDrawing(blob), fileName);
}

async function rasteriseDrawing(drawing: Blob): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(drawing);
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const pen = canvas.getContext("2d")!;
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((png) => (png ? resolve(png) : reject(new Error("The image is too large.")))),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

function downloadBlob(blob: Blob, fileName: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const STYLE_PROPERTIES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-size",
  "font-weight",
  "font-family",
  "opacity",
];

/** Serialise an SVG element together with its computed styles. */
export function serialiseDrawing(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const box = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  copy.style.background = getComputedStyle(document.documentElement).backgroundColor;
  const sources = svg.querySelectorAll("*"),
    targets = copy.querySelectorAll<SVGElement>("*");
  sources.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of STYLE_PROPERTIES) targets[index].style.setProperty(name, style.getPropertyValue(name));
  });
  return copy.outerHTML;
}
