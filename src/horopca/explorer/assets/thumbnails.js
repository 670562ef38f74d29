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
    if (overlapsAny(box, boxes)) continue;
    if (!frame.open && Math.hypot(px[i] - frame.cx, py[i] - frame.cy) > frame.scale - THUMB / 2) continue;
    boxes.push(box);
    scene.thumbs.push({ i, box });
  }
}

/** The picture of a point, loaded on first use. */
function imageOf(app, i) {
  app.pictures ??= new Map();
  if (!app.pictures.has(i)) {
    app.pictures.set(i, h("img", { onload: () => app.draw("ink"), src: app.data.images[i] }));
  }
  return app.pictures.get(i);
}

function paintThumbs(context, app) {
  for (const { i, box: [left, top] } of app.scene.thumbs) {
    const image = imageOf(app, i), { naturalWidth, naturalHeight } = image, grow = THUMB / Math.max(naturalWidth, naturalHeight);
    if (!image.complete || !naturalWidth) continue; // as long as it loads
    const width = grow * naturalWidth, height = grow * naturalHeight; // in its proportions
    const place = [left + (THUMB - width) / 2, top + (THUMB - height) / 2, width, height];
    context.drawImage(image, ...place);
    context.strokeStyle = css(app.paint[i]);
    context.lineWidth = 2;
    context.strokeRect(...place);
  }
}
