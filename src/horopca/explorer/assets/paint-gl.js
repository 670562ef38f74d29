// WebGL2: the disk, the edges as ribbons cut into straight pieces, the points as round sprites.

const MOST_PIECES = 80000, RING_PIECES = 160; // of ribbon in one frame, and in one ring

const HEAD = "#version 300 es\nprecision highp float;\nuniform vec2 viewport; uniform float dpr;\n";

const DISK_VERTEX = `${HEAD}uniform vec3 disk; uniform float open; out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  at = clamp(disk.xy + corner * (disk.z + 2.0 + 1e5 * open), vec2(-2.0), viewport + 2.0);
  gl_Position = vec4(at.x / viewport.x * 2.0 - 1.0, 1.0 - at.y / viewport.y * 2.0, 0.0, 1.0);
}`;
const DISK_FRAGMENT = `${HEAD}uniform vec3 disk, fill, rim, line; uniform float open; in vec2 at; out vec4 colour;
void main() {
  float away = distance(at, disk.xy), part = away / disk.z;
  vec3 inside = mix(fill, rim, (1.0 - open) * part * part * part * part);
  float ring = (1.0 - open) * clamp(1.2 - abs(away - disk.z), 0.0, 1.0);
  float cover = max(open, clamp((disk.z - away) * dpr + 0.5, 0.0, 1.0));
  colour = vec4(mix(inside * cover, line, ring), max(cover, ring));
}`;

const EDGE_VERTEX = `${HEAD}layout(location = 0) in vec4 place; out float across; out float strength;
void main() {
  across = place.z;
  strength = place.w;
  gl_Position = vec4(place.x / viewport.x * 2.0 - 1.0, 1.0 - place.y / viewport.y * 2.0, 0.0, 1.0);
}`;
const EDGE_FRAGMENT = `${HEAD}uniform float width; uniform vec4 ink; in float across; in float strength; out vec4 colour;
void main() {
  float alpha = ink.a * strength * clamp((width / 2.0 - abs(across)) * dpr + 0.5, 0.0, 1.0);
  colour = vec4(ink.rgb * alpha, alpha);
}`;

const POINT_VERTEX = `${HEAD}layout(location = 0) in vec3 mark; layout(location = 1) in vec4 tint;
out vec4 shade; out vec2 extent;
void main() {
  gl_Position = vec4(mark.x / viewport.x * 2.0 - 1.0, 1.0 - mark.y / viewport.y * 2.0, 0.0, 1.0);
  extent = vec2(mark.z * dpr, mark.z * dpr * 2.0 + 2.0);
  gl_PointSize = extent.y;
  shade = tint;
}`;
const POINT_FRAGMENT = `${HEAD}uniform vec3 rim; uniform float opacity; in vec4 shade; in vec2 extent; out vec4 colour;
void main() {
  float away = length(gl_PointCoord - 0.5) * extent.y, cover = clamp(extent.x - away + 0.5, 0.0, 1.0) * opacity;
  float border = extent.x > 3.0 ? clamp(away - extent.x + 1.0 * dpr + 0.5, 0.0, 1.0) : 0.0;
  colour = vec4(mix(shade.rgb, rim, border) * cover, cover);
}`;

function compile(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return { program, at: (name) => gl.getUniformLocation(program, name) };
}

/** Whether there is WebGL2 on a graphics card: done by the processor it is slower than a plain canvas. */
function hasGraphicsCard() {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** A painter on the canvas. */
function glPainter(canvas, n, m) {
  const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
  const disk = compile(gl, DISK_VERTEX, DISK_FRAGMENT), edge = compile(gl, EDGE_VERTEX, EDGE_FRAGMENT);
  const point = compile(gl, POINT_VERTEX, POINT_FRAGMENT);
  const marks = new ArrayBuffer(16 * n), ribbons = new Float32Array(16 * Math.max(RING_PIECES * MOST_RINGS, Math.min(MOST_BENDS * m, MOST_PIECES)));
  const places = new Float32Array(marks), tints = new Uint32Array(marks);
  const pointArray = vertexArray(gl, marks.byteLength, [[3, gl.FLOAT, false, 0], [4, gl.UNSIGNED_BYTE, true, 12]]);
  const edgeArray = vertexArray(gl, ribbons.byteLength, [[4, gl.FLOAT, false, 0]]);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer()); // two triangles to a piece
  const corners = new Uint32Array((6 * ribbons.length) / 16);
  for (let k = 0; k < corners.length; k++) corners[k] = 4 * Math.floor(k / 6) + [0, 1, 2, 2, 1, 3][k % 6];
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  function begin({ program, at }, frame) {
    gl.useProgram(program);
    gl.uniform2f(at("viewport"), frame.width, frame.height);
    gl.uniform1f(at("dpr"), frame.dpr);
    gl.uniform3f(at("disk"), frame.cx, frame.cy, frame.scale);
    return at;
  }

  function drawLines(cut, scene, frame, width, colour, alpha) {
    const at = begin(edge, frame);
    gl.uniform1f(at("width"), width);
    gl.uniform4f(at("ink"), ...colour.map((v) => v / 255), alpha);
    gl.bindVertexArray(edgeArray.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, edgeArray.buffer);
    const pieces = cut(ribbons, scene, frame, width / 2 + 0.6 / frame.dpr);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, ribbons, 0, 16 * pieces);
    gl.drawElements(gl.TRIANGLES, 6 * pieces, gl.UNSIGNED_INT, 0);
  }

  function drawPoints(scene, frame, theme, colours) {
    for (let k = 0; k < scene.marked; k++) {
      const i = scene.marks[k];
      places[4 * k] = scene.px[i];
      places[4 * k + 1] = scene.py[i];
      places[4 * k + 2] = scene.size[i];
      tints[4 * k + 3] = colours[i];
    }
    const at = begin(point, frame);
    gl.uniform3f(at("rim"), ...theme.disk.map((v) => v / 255));
    gl.uniform1f(at("opacity"), theme.opacity);
    gl.bindVertexArray(pointArray.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, pointArray.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, places, 0, 4 * scene.marked);
    gl.drawArrays(gl.POINTS, 0, scene.marked);
  }

  return {
    kind: "webgl2",
    paint(scene, frame, theme, colours) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(...theme.page.map((v) => v / 255), 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const at = begin(disk, frame);
      for (const [name, colour] of [["fill", theme.disk], ["rim", theme.rim], ["line", theme.line]]) {
        gl.uniform3f(at(name), ...colour.map((v) => v / 255));
      }
      gl.uniform1f(at("open"), frame.open ? 1 : 0);
      gl.bindVertexArray(null);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      drawLines(cutRings, scene, frame, 1, theme.line, 0.45);
      if (scene.edges.count) drawLines(frame.open ? cutBentRibbons : cutRibbons, scene, frame, theme.edgeWidth, theme.edge, theme.edgeAlpha);
      drawPoints(scene, frame, theme, colours);
    },
    finish: () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)),
  };
}

/** An array of 16 bytes to a vertex. */
function vertexArray(gl, bytes, attributes) {
  const vao = gl.createVertexArray(), buffer = gl.createBuffer();
  gl.bindVertexArray(vao);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, Math.max(bytes, 4), gl.DYNAMIC_DRAW);
  attributes.forEach(([size, type, normal, offset], k) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, size, type, normal, 16, offset);
  });
  return { vao, buffer };
}

/** The chosen edges in straight pieces, four corners (x, y, across, strength) each; the number of pieces.
 *
 * An arc that turns by 2 phi is cut where it has turned by equal angles: each chord is the one before, turned.
 */
function cutRibbons(ribbons, { edges, zx, zy }, { cx, cy, scale }, half) {
  const most = ribbons.length / 16;
  let pieces = 0;
  for (let e = 0; e < edges.count && pieces < most; e++) {
    const a = edges.ends[2 * e], b = edges.ends[2 * e + 1], phi = edges.turn[e], length = edges.length[e];
    const bulge = (Math.abs(phi) * length) / 4, room = most - pieces;
    const count = Math.min(bulge < 0.5 ? 1 : Math.min(16, Math.ceil(1.3 * Math.sqrt(bulge) + 0.4)), room);
    const turn = (2 * phi) / count, chord = (count === 1 ? 1 : Math.sin(turn / 2) / Math.sin(phi)) * scale;
    const cos = Math.cos(turn), sin = Math.sin(turn), first = turn / 2 - phi, strength = Math.min(1, 0.25 + length / 40);
    let x = cx + scale * zx[a], y = cy - scale * zy[a];
    const c = Math.cos(first) * chord, s = Math.sin(first) * chord, bx = zx[b] - zx[a], by = zy[b] - zy[a];
    let dx = c * bx - s * by, dy = -(s * bx + c * by); // the first chord on the screen
    for (let k = 0; k < count; k++) {
      putPiece(ribbons, pieces++, x, y, x + dx, y + dy, half, strength);
      x += dx;
      y += dy;
      [dx, dy] = [cos * dx + sin * dy, cos * dy - sin * dx];
    }
  }
  return pieces;
}

/** Four corners of a straight piece from (x, y) to (u, v). */
function putPiece(ribbons, piece, x, y, u, v, half, strength) {
  const out = half / (Math.hypot(u - x, v - y) || 1), nx = (y - v) * out, ny = (u - x) * out, at = 16 * piece;
  ribbons[at] = x + nx; ribbons[at + 1] = y + ny; ribbons[at + 4] = x - nx; ribbons[at + 5] = y - ny;
  ribbons[at + 8] = u + nx; ribbons[at + 9] = v + ny; ribbons[at + 12] = u - nx; ribbons[at + 13] = v - ny;
  ribbons[at + 2] = ribbons[at + 10] = half;
  ribbons[at + 6] = ribbons[at + 14] = -half;
  ribbons[at + 3] = ribbons[at + 7] = ribbons[at + 11] = ribbons[at + 15] = strength;
}

/** The same for the edges of the equidistant disk, which are no arcs. */
function cutBentRibbons(ribbons, scene, frame, half) {
  const { edges } = scene, most = ribbons.length / 16;
  let pieces = 0;
  for (let e = 0; e < edges.count && pieces < most; e++) {
    const path = pathOnScreen(scene, frame, edges.ends[2 * e], edges.ends[2 * e + 1], edges.length[e]);
    const strength = Math.min(1, 0.25 + edges.length[e] / 40);
    for (let k = 0; k + 3 < path.length && pieces < most; k += 2) {
      putPiece(ribbons, pieces++, path[k], path[k + 1], path[k + 2], path[k + 3], half, strength);
    }
  }
  return pieces;
}

/** The same for the rings. */
function cutRings(ribbons, { rings }, { cx, cy }, half) {
  const place = (r, k) => [cx + r * Math.cos((2 * Math.PI * k) / RING_PIECES), cy + r * Math.sin((2 * Math.PI * k) / RING_PIECES)];
  let pieces = 0;
  for (const { pixels } of rings) {
    for (let k = 0; k < RING_PIECES; k++) putPiece(ribbons, pieces++, ...place(pixels, k), ...place(pixels, k + 1), half, 1);
  }
  return pieces;
}
