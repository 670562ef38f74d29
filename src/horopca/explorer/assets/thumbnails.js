// Thumbnails: the pictures of points, drawn at them where there is space and the view is close.

const THUMB = 44, MOST_THUMBS = 60; // pixels of the longer side; thumbnails in one frame
const CLOSE = 200; // points with pictures in view up to which they have thumbnails

/** The rows to draw thumbnails of, with their boxes [left, top, right, bottom]: the most important points first. */
function placeThumbs({ scene, data, frame }, boxes) {
  scene.thumbs = [];
  if (!data.images) return;
  const { px, py, size, weight } = scene, near = [];
  for (let i = 0; i < data.n; i++) if (size[i] > 0 && data.images[i]) near.push(i);
  if (near.length > CLOSE) return;
  for (const i of near.sort((a, b) => size[b] * (1 + weight[b]) - size[a] * (1 + weight[a]))) {
    const box = [px[i] - THUMB / 2, py[i] - THUMB / 2, px[i] + THUMB / 2, py[i] + THUMB / 2];
    if (scene.thumbs.length >= MOST_THUMBS) break;
    if (boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) continue;
    if (!frame.open && Math.hypot(px[i] - frame.cx, py[i] - frame.cy) > frame.scale - THUMB / 2) continue;
    boxes.push(box);
    scene.thumbs.push({ i, box });
  }
}

/** The picture of a point, loaded on first use; null until then. */
function imageOf(app, i) {
  app.pictures ??= new Map();
  if (!app.pictures.has(i)) {
    const image = new Image();
    image.onload = () => app.draw("ink");
    image.src = app.data.images[i];
    app.pictures.set(i, image);
  }
  const image = app.pictures.get(i);
  return image.complete && image.naturalWidth ? image : null;
}

/** Where in its box a picture goes, in its proportions: [x, y, width, height]. */
function insideBox(image, [left, top]) {
  const grow = THUMB / Math.max(image.naturalWidth, image.naturalHeight), w = grow * image.naturalWidth, h = grow * image.naturalHeight;
  return [left + (THUMB - w) / 2, top + (THUMB - h) / 2, w, h];
}

function paintThumbs(context, app) {
  for (const { i, box } of app.scene.thumbs) {
    const image = imageOf(app, i);
    if (!image) continue;
    const place = insideBox(image, box);
    context.drawImage(image, ...place);
    context.strokeStyle = css(app.paint[i]);
    context.lineWidth = 2;
    context.strokeRect(...place);
  }
}
