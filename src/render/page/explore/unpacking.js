// Series from packed bytes (render/explore/packed_series.h says how). A part of the script of `edict explore`'s page.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  byte() { return this.bytes[this.at++]; }
  varint() {
    let value = 0, unit = 1, byte;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * unit;
      unit *= 128;
    } while (byte > 127);
    return value;
  }
  signed() {
    const folded = this.varint();
    return folded % 2 ? -(folded + 1) / 2 : folded / 2;
  }
  text() {
    const size = this.varint();
    return new TextDecoder().decode(this.bytes.subarray(this.at, this.at += size));
  }
  float64() { return this.view.getFloat64((this.at += 8) - 8, true); }
  list(count, next) {
    const values = new Float64Array(count);
    for (let i = 0; i < count; ++i) values[i] = next();
    return values;
  }
  // Whole numbers that were written as differences, each turned into what it stands for.
  deltas(count, meaning = (value) => value) {
    let sum = 0;
    return this.list(count, () => meaning(sum += this.signed()));
  }
  // Numbers that are the same bit by bit.
  exact(count) {
    const decimals = this.byte();
    if (decimals === 255) return this.list(count, () => this.float64());
    const power = Number('1e' + decimals);
    return this.deltas(count, (multiple) => multiple / power);
  }
}

async function inflated(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const hasExpectations = 1, hasBands = 2, hasProbabilities = 4, hasClips = 8, hasDates = 16;

function readExpectations(reader, count, whole) {
  const steps = whole ? meta.steps.z : meta.steps.coarseZ;
  const z = reader.list(count, () => reader.signed() / steps);
  if (!whole) return {z};
  return {
    z,
    deviation: reader.deltas(count, (q) => 2 ** (q / meta.steps.log)),
    share: reader.deltas(count, (q) => q / meta.steps.share),
  };
}

function readBand(reader) {
  const count = reader.varint();
  if (count === 0) return {at: [], mean: [], half: [], deviation: [], share: []};
  const low = reader.float64(), high = reader.float64(), unit = (high - low) / meta.steps.band;
  const at = reader.deltas(count), mean = reader.deltas(count, (q) => low + q * unit);
  const half = reader.deltas(count, (q) => q * unit);
  const ratio = reader.deltas(count, (q) => 2 ** (q / meta.steps.log));
  return {at, mean, half, deviation: half.map((h, i) => h / ratio[i]), share: reader.deltas(count, (q) => q / meta.steps.share)};
}

function readCurve(reader) {
  const count = reader.varint();
  return {at: reader.deltas(count), p: reader.deltas(count, (q) => q / meta.steps.share)};
}

function readFeature(reader, what, times) {
  const feature = {index: reader.varint()}, count = reader.varint();
  let event = 0;
  feature.event = reader.list(count, () => event += reader.varint());
  feature.time = feature.event.map((e) => times[e]);
  feature.value = reader.exact(count);
  if (what & hasExpectations) {
    feature.given = readExpectations(reader, count, what & hasBands);
    if (what & hasBands) {
      const later = reader.varint();
      feature.later = {from: count - later, ...readExpectations(reader, later, true)};
    }
  }
  feature.used = new Map();
  if (what & hasClips) {
    const clips = reader.varint();
    for (let i = 0, place = 0; i < clips; ++i) feature.used.set(place += reader.varint(), reader.float64());
  }
  if (what & hasBands) feature.bands = {given: readBand(reader), forecast: readBand(reader)};
  feature.largest = feature.given ? feature.given.z.reduce((most, z) => Math.max(most, Math.abs(z)), 0) : 0;
  return feature;
}

function readSeries(bytes) {
  const reader = new Reader(bytes), times = reader.exact(reader.varint());
  const what = reader.byte(), cut = reader.float64(), features = [], dates = {};
  if (what & hasDates) {
    dates.origin = reader.float64();
    dates.written = reader.text().split('\n');
  }
  for (let count = reader.varint(); count > 0; --count) features.push(readFeature(reader, what, times));
  const read = {times, cut, features, ...dates, probability: null, whole: Boolean(what & hasBands)};
  if (what & (hasBands | hasProbabilities)) {
    const count = reader.varint();
    if (count > 0) {
      const first = reader.float64(), last = reader.float64();
      const grid = reader.deltas(count, (q) => first + (last - first) * q / meta.steps.grid);
      read.span = [first, last];
      const placed = (curve) => { curve.x = Array.from(curve.at, (k) => grid[k]); };
      for (const feature of features) if (feature.bands) Object.values(feature.bands).forEach(placed);
      if (what & hasProbabilities) {
        const curves = () => Array.from({length: reader.varint()}, () => readCurve(reader));
        read.probability = {given: curves(), forecast: curves()};
        Object.values(read.probability).flat().forEach(placed);
      }
    }
  }
  if (!read.span) {
    const first = times[0] ?? 0, last = times[times.length - 1] ?? 1;
    read.span = last > first ? [first, last] : [first - 1, first + 1];
  }
  return read;
}

// Blocks that were opened, the latest last.
const blocks = new Map();
async function openedBlock(number) {
  if (!blocks.has(number)) {
    blocks.set(number, inflated(element('block-' + number).textContent).then((bytes) => {
      const records = [];
      for (const reader = new Reader(bytes); reader.at < bytes.length;) {
        const size = reader.varint();
        records.push(bytes.subarray(reader.at, reader.at += size));
      }
      return records;
    }));
    if (blocks.size > 8) blocks.delete(blocks.keys().next().value);
  }
  return blocks.get(number);
}
