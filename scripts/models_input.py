"""Real input of its kind for each model of models.tsv; see models.py.

Comes in: the name of a model, a size of its row (numbers with x between them),
and where the files of the table lie. Out: a Case: the inputs of one run, or of
many that hand their state on. What a picture, a sound or a text goes through is
what the package does with it (mean and deviation, order of channels, windows,
alphabet); where it only resizes, Pillow does. Everything is the same each time.
"""
import io
import json
import unicodedata
import wave

import numpy as np

TEXT = """A tenon is the shaped end of one piece of wood that fits into a hole
of the same shape in another: a joint that holds without nails and without glue.
The oldest that we know are seven thousand years old; they line wells near
Leipzig, cut with stone into oak. Joiners mark them with a knife and not with a
pencil, because a line has two sides and a cut has none. What fits too tightly
will split the other piece in the first dry winter; what fits too loosely will
not bear a door. Between the two lies the width of one shaving."""

SENTENCES = [
    "The cabinet maker planed both boards until they were flat.",
    "How far is it from the old harbour to the railway station?",
    "Compilers translate programs; unlike interpreters, they don't run them. " +
    TEXT,
    "She left 3 umbrellas at the café on 42nd street.",
    TEXT + " " + TEXT,
    "Rain is expected in the north, with gusts of 70 km/h near the coast.",
    "No.", "He repaired the violin's bridge before the concert began."]

ARABIC = """ذهب الولد الى المدرسة في الصباح الباكر ثم عاد الى البيت بعد الظهر
وجلس مع جده يقرا كتابا عن البحر والسفن القديمة التي كانت تعبر المحيط
وفي المساء كتب رسالة طويلة الى صديقه الذي يسكن في مدينة بعيدة على الساحل"""

RUSSIAN = """пароход переподготовка лесник водопроводчик безоблачный подоконник
снегопад учительница расписание самолётостроение приморский объездчик
невыносимость перекрёсток путешественница сверхзвуковой землетрясение дом
книга полуостров""".split()

LETTERS = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"


class Case:
    """Inputs of one run after the other; `states` names, for an input, the
    result (by position) of the run before that it takes."""

    def __init__(self, feeds, states=None):
        self.feeds, self.states = feeds, states or {}


# ---- Pictures ----------------------------------------------------------------


def page(height, width, turn=0, start=0):
    """A printed page: a title, a column of text, a photograph's place."""
    from PIL import Image, ImageDraw, ImageFont
    side = (width, height) if turn % 2 == 0 else (height, width)
    picture = Image.new("RGB", side, (250, 248, 244))
    draw = ImageDraw.Draw(picture)
    step = max(8, side[1] // 24)
    words = TEXT.split()[start:] + TEXT.split()
    title = ImageFont.load_default(step * 1.4)
    draw.text((step, step // 2), "Of joints", fill=(10, 10, 60), font=title)
    font = ImageFont.load_default(step * 0.8)
    y = step * 3
    draw.rectangle((side[0] * 0.6, y, side[0] - step, y + step * 5),
                   fill=(90, 130, 150), outline=(0, 0, 0))
    while y < side[1] - step * 2:
        edge = side[0] * (0.58 if y < step * 8 else 0.95)
        line = words.pop(0)
        while words and draw.textlength(line + " " + words[0],
                                        font=font) < edge - step:
            line += " " + words.pop(0)
        draw.text((step, y), line, fill=(20, 20, 20), font=font)
        y += step
        words = words or TEXT.split()
    return picture.rotate(90 * turn, expand=True)


def line_of_text(height, width, number, upside_down=False):
    """One line, as a detector would have cut it out."""
    from PIL import Image, ImageDraw, ImageFont
    picture = Image.new("RGB", (width, height), (236, 233, 225))
    text = " ".join(TEXT.split()[number * 3:number * 3 + 40])
    ImageDraw.Draw(picture).text((6, height // 8), text, fill=(30, 25, 40),
                                 font=ImageFont.load_default(height * 0.65))
    return picture.rotate(180) if upside_down else picture


def photographs(files, count):
    from PIL import Image
    pictures = [Image.open(files("+photo")), Image.open(files("+photo2"))]
    out = []
    for i in range(count):
        picture = pictures[i % 2].convert("RGB")
        cut = 30 * (i // 2)
        out.append(picture.crop((cut, cut, picture.width, picture.height)))
    return out


def planes(picture, mean, deviation, bgr=True):
    """Channels first, scaled to 0..1 and normalised, as f32."""
    pixels = np.asarray(picture, np.float32) / 255
    pixels = pixels[:, :, ::-1] if bgr else pixels
    scaled = (pixels - np.float32(mean)) / np.float32(deviation)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1), np.float32)


HALF = (0.5, 0.5, 0.5)
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def ppocr4_det(size, _):
    n, height, width = size
    pages = [page(height, width, 0, 9 * i) for i in range(n)]
    return {"x": np.stack([planes(p, HALF, HALF) for p in pages])}


def ppocr_line(size, _):
    n, height, width = size
    lines = [line_of_text(height, width, i, i % 3 == 1) for i in range(n)]
    return {"x": np.stack([planes(p, HALF, HALF) for p in lines])}


def doc_orientation(size, _):
    pages = [page(320, 240, i).resize((256, 256)).crop((16, 16, 240, 240))
             for i in range(size[0])]
    return {"x": np.stack([planes(p, MEAN, DEVIATION) for p in pages])}


def layout_picodet(size, files):
    """A page with a photograph on it; `size` only says which."""
    picture = page(800, 608, 0, 11 * size[0])
    photo = photographs(files, size[0])[-1].resize((220, 160))
    picture.paste(photo, (360, 500))
    return {"image": planes(picture, MEAN, DEVIATION)[None]}


def open_nsfw(size, files):
    from PIL import Image
    out = []
    for picture in photographs(files, size[0]):
        packed = io.BytesIO()
        picture.resize((256, 256), Image.BILINEAR).save(packed, "JPEG")
        pixels = np.asarray(Image.open(packed).convert("RGB"), np.float32)
        out.append(pixels[16:240, 16:240, ::-1] -
                   np.float32((104, 117, 123)))
    return {"input_0": np.stack(out)}


# ---- Sound -------------------------------------------------------------------


def speech(files):
    """Half a minute of a conversation, 16 kHz, in [-1, 1]."""
    with wave.open(str(files("+speech"))) as sound:
        frames = sound.readframes(sound.getnframes())
    return np.frombuffer(frames, "<i2").astype(np.float32) / 32768


def loudest(sound, length):
    """Where a stretch of this length holds most."""
    energy = np.concatenate([[0], np.cumsum(np.float64(sound) ** 2)])
    return int(np.argmax(energy[length:] - energy[:-length]))


def stretches(files, count, length):
    sound = speech(files)
    first = loudest(sound, length)
    starts = [(first + i * 61000) % (len(sound) - length + 1)
              for i in range(count)]
    return np.stack([sound[s:s + length] for s in starts])


def oww_melspec(size, files):
    return {"input": np.round(stretches(files, *size) * 32767)}


def oww_embedding(size, files):
    """What the front end makes of speech: 76 frames each, 8 frames on."""
    mel = files.run("oww_melspec", oww_melspec((1, 32000), files))[0]
    mel = mel.reshape(-1, 32) / 10 + 2
    return {"input_1": np.stack([mel[8 * i:8 * i + 76, :, None]
                                 for i in range(size[0])])}


def dnsmos(size, files):
    return {"input_1": stretches(files, size[0], 144160)}


def silero_vad(size, files):
    """Speech in frames, each with the end of the one before it."""
    n, width = size
    context, rate = (64, 16000) if width == 576 else (32, 8000)
    step = width - context
    sound = stretches(files, n, 40 * step * (16000 // rate) + context)
    if rate == 8000:
        sound = (sound[:, 0:-1:2] + sound[:, 1::2]) / 2
    sound = np.pad(sound, ((0, 0), (context, 0)))
    feeds = []
    for frame in range(sound.shape[1] // step - 1):
        part = sound[:, frame * step:frame * step + width]
        feeds.append({"input": part, "sr": np.array(rate, np.int64)})
    feeds[0]["state"] = np.zeros((2, n, 128), np.float32)
    return Case(feeds[:40], {"state": 1})


def gtcrn(size, files):
    """Noisy speech, one frame of its short-time spectrum after the other;
    `size` is the number of frames and where they start."""
    frames, start = size
    random = np.random.default_rng(start)
    sound = speech(files)[loudest(speech(files), 16000) + start:]
    sound = sound[:(frames + 1) * 256]
    sound = sound + random.normal(0, np.std(sound) / 2, len(sound))
    window = np.sqrt(np.hanning(512))
    feeds = []
    for i in range(frames):
        spectrum = np.fft.rfft(sound[i * 256:i * 256 + 512] * window)
        pair = np.stack([spectrum.real, spectrum.imag], -1)
        feeds.append({"mix": pair[None, :, None].astype(np.float32)})
    shapes = {"conv_cache": (2, 1, 16, 16, 33), "tra_cache": (2, 3, 1, 1, 16),
              "inter_cache": (2, 1, 33, 16)}
    for name, shape in shapes.items():
        feeds[0][name] = np.zeros(shape, np.float32)
    return Case(feeds, {name: i + 1 for i, name in enumerate(shapes)})


def basic_pitch(size, _):
    """A tune in two voices, struck strings with seven overtones."""
    rate, length = 22050, 43844
    time = np.arange(length) / rate
    out = np.zeros((size[0], length))
    for i in range(size[0]):
        tune = [(60, 64), (62, 67), (64, 55), (65, 69), (67, 48), (72, 60)]
        for beat, notes in enumerate(tune):
            since = np.maximum(time - beat * 0.32, 0)
            for note in notes:
                base = 440 * 2 ** ((note + 3 * i - 69) / 12)
                for k in range(1, 8):
                    out[i] += (np.sin(2 * np.pi * base * k * since) / k ** 1.5 *
                               np.exp(-since * (2 + k)) * (since > 0))
    out *= 0.8 / np.abs(out).max()
    return {"serving_default_input_2:0": out[:, :, None].astype(np.float32)}


# ---- Text --------------------------------------------------------------------


def pieces(text, words):
    """Ids of the pieces of a text: BERT's tokeniser, lower case."""
    text = unicodedata.normalize("NFD", text.lower())
    spaced = ""
    for sign in text:
        kind = unicodedata.category(sign)
        if kind[0] in "PS":
            spaced += " " + sign + " "
        elif kind != "Mn":
            spaced += sign
    out = []
    for word in spaced.split():
        found, start = [], 0
        while start < len(word):
            end = len(word)
            prefix = "##" if start else ""
            while end > start and prefix + word[start:end] not in words:
                end -= 1
            if end == start:
                found = [words["[UNK]"]]
                break
            found.append(words[prefix + word[start:end]])
            start = end
        out += found
    return out


def sentences(size, files):
    """Sentences cut to the longest size; shorter ones are padded, masked."""
    n, length = size
    with open(files("+words"), encoding="utf-8") as text:
        words = {word.rstrip("\n"): i for i, word in enumerate(text)}
    ids = np.zeros((n, length), np.int64)
    mask = np.zeros((n, length), np.int64)
    for i in range(n):
        text = SENTENCES[i if n > 1 else 0 if length < 32 else 2]
        row = pieces(text, words)[:length - 2]
        row = [words["[CLS]"]] + row + [words["[SEP]"]]
        ids[i, :len(row)], mask[i, :len(row)] = row, 1
    return {"input_ids": ids, "attention_mask": mask}


def minilm_l6_int8(size, files):
    feeds = sentences(size, files)
    feeds["token_type_ids"] = np.zeros_like(feeds["input_ids"])
    return feeds


def rawi_int8(size, files):
    n, length = size
    with open(files("+letters"), encoding="utf-8") as text:
        ids = json.load(text)["char_to_idx"]
    bare = [c for c in unicodedata.normalize("NFD", " ".join(ARABIC.split()))
            if unicodedata.category(c) not in ("So", "Mn")]
    row = [ids.get(c, ids["<UNK>"]) for c in bare]
    return {"input": np.array([row[i * 30:i * 30 + length]
                               for i in range(n)], np.int64)}


def slovorez_f16(size, _):
    n, length = size
    out = np.zeros((n, length), np.int32)
    for i in range(n):
        word = RUSSIAN[(i + length) % len(RUSSIAN)][:length]
        out[i, :len(word)] = [4 + LETTERS.index(c) for c in word]
    return {"input_layer": out}


def magika(size, files):
    """Files of this folder and of others: their first and last 1024 bytes."""
    paths = ["README.md", "scripts/models_input.py", "configure.ac",
             "src/ir/ops.def", None]
    out = np.full((size[0], 2048), 256, np.int32)
    for i in range(size[0]):
        path = files.top / paths[i] if paths[i] else files("+photo")
        with open(path, "rb") as source:
            data = source.read()
        first = data[:4096].lstrip()[:1024]
        last = data[-4096:].rstrip()[-1024:]
        out[i, :len(first)] = np.frombuffer(first, np.uint8)
        out[i, 2048 - len(last):] = np.frombuffer(last, np.uint8)
    return {"bytes": out}


MAKERS = {
    "ppocr4_det": ppocr4_det, "ppocr4_rec": ppocr_line,
    "ppocr2_cls": ppocr_line, "doc_orientation": doc_orientation,
    "layout_picodet": layout_picodet, "open_nsfw": open_nsfw,
    "magika": magika, "silero_vad": silero_vad, "basic_pitch": basic_pitch,
    "minilm_l3": sentences, "minilm_l6_int8": minilm_l6_int8,
    "oww_melspec": oww_melspec, "oww_embedding": oww_embedding,
    "dnsmos": dnsmos, "gtcrn": gtcrn, "rawi_int8": rawi_int8,
    "slovorez_f16": slovorez_f16,
}


def make(model, size, files):
    case = MAKERS[model](tuple(int(n) for n in size.split("x")), files)
    return case if isinstance(case, Case) else Case([case])
