"""What machines send as pictures: real ones pass, everything else is refused, nothing decoded."""

import struct
import zlib

import pytest
from PIL import Image

from schemas.link.picture_frames import FRAME_BYTES, PictureKind
from schemas.values.pictures import PictureFormat, Size
from server.machines.link.questions.pictures import PictureAssembly, PictureError, check_picture
from tests.pictures import encoded, frames_of, header, noise, picture

SIZE = Size(64, 40)


def assembly() -> PictureAssembly:
    return PictureAssembly(1024 * 1024)


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
def test_picture_in_several_frames_is_put_together(form: PictureFormat) -> None:
    content = noise(form)
    head = header(content, form=form, size=Size(640, 400))
    frames = frames_of(head, content)
    assert len(frames) > 3
    together = PictureAssembly(len(content))
    for _ in range(2):
        for frame in frames[:-1]:
            assert together.add(frame) == (head, FRAME_BYTES, None)
        assert together.add(frames[-1])[2] == content


@pytest.mark.parametrize("quality", [1, 25, 75, 95])
def test_jpeg_of_every_quality_passes(quality: int) -> None:
    for mode in ("RGB", "L"):
        image = Image.effect_noise((64, 40), 100).convert(mode)
        check_picture("jpeg", SIZE, encoded(image, "jpeg", quality=quality))


@pytest.mark.parametrize("quality", [1, 25, 75, 95])
@pytest.mark.parametrize("size", [SIZE, (1, 1), (63, 41)])
def test_webp_of_every_quality_passes(quality: int, size: tuple[int, int]) -> None:
    image = Image.effect_noise(size, 100).convert("RGB")
    for method in (0, 4):
        check_picture("webp", Size(*size), encoded(image, "webp", quality=quality, method=method))


def test_frames_that_do_not_fit_together_are_refused() -> None:
    content = noise()
    head = header(content, size=Size(640, 400))
    first, second, *_ = frames_of(head, content)
    other = header(content, size=Size(640, 400), number=2)
    for wrong in (first, frames_of(head, content)[2], other.frame(FRAME_BYTES, b"x")):
        together = assembly()
        together.add(first)
        with pytest.raises(PictureError, match="does not continue"):
            together.add(wrong)
    with pytest.raises(PictureError, match="does not continue"):
        assembly().add(second)


def test_more_bytes_than_were_declared_are_refused() -> None:
    with pytest.raises(PictureError, match="longer than its 5 bytes"):
        assembly().add(header(total=5).frame(0, b"123456"))


@pytest.mark.parametrize("total", [0, 1024 * 1024 + 1, 2**32 - 1])
def test_picture_that_is_too_large_is_refused_at_its_first_frame(total: int) -> None:
    with pytest.raises(PictureError, match="it may have 1048576 at most"):
        assembly().add(header(total=total).frame(0, b"x"))


@pytest.mark.parametrize("size", [Size(16_385, 1), Size(1, 16_385), Size(16_384, 16_384)])
def test_picture_of_too_many_pixels_is_refused_at_its_first_frame(size: Size) -> None:
    with pytest.raises(PictureError, match="is too large"):
        assembly().add(header(size=size).frame(0, b"x"))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(PictureError, match="a binary frame has"):
        assembly().add(b"GIF89a")


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG of these chunks."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", zlib.crc32(content))
        for kind, content in chunks
    )


def ihdr(width: int = 64, height: int = 40, *, rest: bytes = b"\x08\x02\x00\x00\x00") -> bytes:
    return struct.pack(">II", width, height) + rest


def webp(*, after: bytes = b"", **changed: bytes) -> bytes:
    """A WebP with other bytes at these places, each ``at_`` and where, and something after it."""
    content = bytearray(picture("webp") + after)
    for place, part in changed.items():
        at = int(place.removeprefix("at_"))
        content[at : at + len(part)] = part
    return bytes(content)


HEAD, DATA, END = (b"IHDR", ihdr()), (b"IDAT", b"x"), (b"IEND", b"")
JPEG, PNG, WEBP = picture(), picture("png"), picture("webp")
PLAIN = Image.new("RGB", SIZE)

WRONG: dict[str, tuple[PictureFormat, bytes]] = {
    "nothing": ("jpeg", b"x"),
    "a page": ("png", b"<script>alert(1)</script>"),
    "a GIF": ("png", encoded(PLAIN, "gif")),
    "a JPEG as PNG": ("png", JPEG),
    "a PNG as JPEG": ("jpeg", PNG),
    "a PNG of another size": ("png", picture("png", 65, 40)),
    "a JPEG of another size": ("jpeg", picture("jpeg", 64, 41)),
    "a PNG bomb": ("png", png((b"IHDR", ihdr(60_000, 60_000)), DATA, END)),
    "a PNG with compressed text": ("png", png(HEAD, (b"zTXt", b"x\0\0x"), DATA, END)),
    "a PNG with a profile": ("png", png(HEAD, (b"iCCP", b"x\0\0x"), DATA, END)),
    "a PNG with its size twice": ("png", png(HEAD, HEAD, DATA, END)),
    "a PNG with its size last": ("png", png(DATA, HEAD, END)),
    "a PNG without an end": ("png", png(HEAD, DATA)),
    "a PNG with something after it": ("png", PNG + b"<script>"),
    "a PNG that breaks off": ("png", PNG[:-1]),
    "a PNG of 16 bits": ("png", png((b"IHDR", ihdr(rest=b"\x10\x02\0\0\0")), DATA, END)),
    "a PNG with a palette": ("png", png((b"IHDR", ihdr(rest=b"\x08\x03\0\0\0")), DATA, END)),
    "an interlaced PNG": ("png", png((b"IHDR", ihdr(rest=b"\x08\x02\0\0\1")), DATA, END)),
    "a JPEG with something after it": ("jpeg", JPEG + b"<script>\xff\xd9"),
    "a JPEG that breaks off": ("jpeg", JPEG[:-1]),
    "a JPEG of its start and end": ("jpeg", b"\xff\xd8\xff\xd9"),
    "a progressive JPEG": ("jpeg", encoded(PLAIN, "jpeg", progressive=True)),
    "a JPEG with EXIF": ("jpeg", encoded(PLAIN, "jpeg", exif=b"Exif\0\0MM")),
    "a JPEG with a comment": ("jpeg", encoded(PLAIN, "jpeg", comment=b"x")),
    "a JPEG with two frames": ("jpeg", JPEG[:2] + JPEG[JPEG.index(b"\xff\xc0") :][:19] + JPEG[2:]),
    "a JPEG with two scans": ("jpeg", JPEG[:-2] + JPEG[JPEG.index(b"\xff\xda") :]),
    "a JPEG in CMYK": ("jpeg", encoded(Image.new("CMYK", SIZE), "jpeg")),
    "a PNG as WebP": ("webp", PNG),
    "a WebP as JPEG": ("jpeg", WEBP),
    "a WebP of another size": ("webp", picture("webp", 64, 41)),
    "a WebP without loss": ("webp", encoded(PLAIN, "webp", lossless=True)),
    "a WebP of another kind": ("webp", webp(at_12=b"VP8X")),
    "a WebP without the mark of its start": ("webp", webp(at_23=b"\x9d\x01\x2b")),
    "a WebP with EXIF": ("webp", encoded(PLAIN, "webp", exif=b"Exif\0\0MM")),
    "a WebP with a profile": ("webp", encoded(PLAIN, "webp", icc_profile=b"x")),
    "a WebP with transparency": ("webp", encoded(Image.new("RGBA", SIZE), "webp")),
    "a WebP that moves": (
        "webp",
        encoded(PLAIN, "webp", save_all=True, append_images=[Image.new("RGB", SIZE, "red")]),
    ),
    "a WebP with something after it": ("webp", webp(after=b"<script>")),
    "a WebP with a chunk after it": (
        "webp",
        webp(after=b"EXIF\4\0\0\0MM\0*", at_4=struct.pack("<I", len(WEBP) + 4)),
    ),
    "a WebP that is longer than it says": ("webp", webp(at_4=b"\x10\0\0\0")),
    "a WebP that shows what was before": ("webp", webp(at_20=bytes([WEBP[20] | 1]))),
    "a JPEG of tables alone": ("jpeg", b"\xff\xd8" + b"\xff\xdb\x00\x02" * 70 + b"\xff\xd9"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_plain_picture_of_its_size_is_refused(name: str) -> None:
    form, content = WRONG[name]
    with pytest.raises(PictureError):
        check_picture(form, SIZE, content)


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
def test_picture_that_was_cut_anywhere_is_refused_and_breaks_nothing(form: PictureFormat) -> None:
    content = picture(form)
    for length in range(len(content)):
        with pytest.raises(PictureError):
            check_picture(form, SIZE, content[:length])


def test_webp_that_would_be_enlarged_is_refused_though_its_size_is_as_declared() -> None:
    enlarged = 1 << 14
    with pytest.raises(PictureError, match="would be enlarged"):
        check_picture("webp", Size(enlarged, 40), webp(at_26=struct.pack("<H", enlarged)))


def test_assembly_checks_the_whole_picture() -> None:
    content = picture("png", 65, 40)
    head = header(content, kind=PictureKind.SCREENSHOT, form="png")
    with pytest.raises(PictureError, match="65 x 40 pixels was declared as 64 x 40"):
        assembly().add(frames_of(head, content)[0])


def chunk(kind: bytes, content: bytes = b"") -> bytes:
    """A part of a PNG."""
    whole = kind + content
    return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))


def test_png_of_countless_empty_chunks_is_refused_before_they_are_all_looked_at() -> None:
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *SIZE, 8, 2, 0, 0, 0))
    few = start + 50 * chunk(b"IDAT") + chunk(b"IEND")
    check_picture("png", SIZE, few)
    with pytest.raises(PictureError, match="too many parts"):
        # It breaks off: whoever looks at all of it says that instead.
        check_picture("png", SIZE, start + 100_000 * chunk(b"IDAT"))


def test_jpeg_that_is_made_of_markers_is_refused_before_they_are_all_looked_at() -> None:
    plain = picture("jpeg", *SIZE)
    assert plain.endswith(b"\xff\xd9")
    check_picture("jpeg", SIZE, plain[:-2] + 10 * b"\xff\x00" + plain[-2:])
    with pytest.raises(PictureError, match="too many markers"):
        check_picture("jpeg", SIZE, plain[:-2] + 100_000 * b"\xff\x00" + plain[-2:])
