package io.seriatim.tensor;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The beginning of an {@code .npy} file: magic, version, and a Python dictionary with type, order and shape.
 *
 * @param dtype
 *            the elements' type
 * @param bigEndian
 *            whether the elements are big-endian
 * @param fortran
 *            whether the first dimension is the fastest
 * @param shape
 *            the dimensions
 * @param length
 *            the length of the header, in bytes
 */
record NpyHeader(DType dtype, boolean bigEndian, boolean fortran, Shape shape, int length) {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int MOST = 1 << 16;
    private static final int ALIGNMENT = 64;
    private static final int MOST_DIMENSIONS = 32;
    // Keys may be in any order; NumPy writes no others.
    private static final Pattern ENTRY = Pattern
            .compile(
                    "\\s*'(descr|fortran_order|shape)'\\s*:\\s*('[^']{1,8}'|True|False|\\([0-9,\\sL]*\\))\\s*(,|(?=\\}))");
    private static final Map<String, DType> TYPES = Map.ofEntries(Map.entry("f4", DType.FLOAT32),
            Map.entry("f8", DType.FLOAT64),
            Map.entry("f2", DType.FLOAT16),
            Map.entry("V2", DType.BFLOAT16), Map.entry("i1", DType.INT8), Map.entry("i2", DType.INT16),
            Map.entry("i4", DType.INT32),
            Map.entry("i8", DType.INT64),
            Map.entry("u1", DType.UINT8), Map.entry("u2", DType.UINT16), Map.entry("u4", DType.UINT32),
            Map.entry("u8", DType.UINT64), Map.entry("b1", DType.BOOL), Map.entry("c8", DType.COMPLEX64),
            Map.entry("c16", DType.COMPLEX128));

    static NpyHeader read(String source, DataInputStream in) throws IOException {
        byte[] start = new byte[MAGIC.length + 2];
        readFully(source, in, start, 0);
        for (int i = 0; i < MAGIC.length; i++) {
            if (start[i] != MAGIC[i]) {
                throw new FileFormatException(source, i, "an .npy file begins with \\x93NUMPY, but this one does not");
            }
        }
        int version = start[MAGIC.length];
        if (version < 1 || version > 3 || start[MAGIC.length + 1] != 0) {
            throw new FileFormatException(source, MAGIC.length,
                    "the format version must be 1.0, 2.0 or 3.0, but is " + version + "." + start[MAGIC.length + 1]);
        }
        byte[] size = new byte[version == 1 ? 2 : 4];
        readFully(source, in, size, start.length);
        long length = 0;
        for (int i = size.length - 1; i >= 0; i--) {
            length = (length << 8) | (size[i] & 0xff);
        }
        int at = start.length + size.length;
        if (length > MOST) {
            throw new FileFormatException(source, start.length,
                    "the header must be of at most " + MOST + " bytes, but is of " + length);
        }
        byte[] text = new byte[(int) length];
        readFully(source, in, text, at);
        return parse(source, at, new String(text, StandardCharsets.ISO_8859_1), at + text.length);
    }

    static void readFully(String source, DataInputStream in, byte[] into, long offset) throws IOException {
        try {
            in.readFully(into);
        } catch (EOFException e) {
            FileFormatException wrong = new FileFormatException(source, offset, "the file ends within its header");
            wrong.initCause(e);
            throw wrong;
        }
    }

    private static NpyHeader parse(String source, int offset, String text, int length) throws FileFormatException {
        String trimmed = text.strip();
        if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) {
            throw new FileFormatException(source, offset,
                    "the header must be a dictionary in braces, but is " + quoted(text));
        }
        Map<String, String> entries = new HashMap<>();
        int begin = text.indexOf('{') + 1;
        Matcher matcher = ENTRY.matcher(text);
        int end = begin;
        while (matcher.find(end) && matcher.start() == end) {
            if (entries.put(matcher.group(1), matcher.group(2)) != null) {
                throw new FileFormatException(source, offset + end, "the key " + matcher.group(1) + " is there twice");
            }
            end = matcher.end();
        }
        if (entries.size() != 3 || !text.substring(end).strip().equals("}")) {
            throw new FileFormatException(source, offset + end,
                    "the header must have the keys descr, fortran_order and shape and nothing else, but is "
                            + quoted(text));
        }
        String order = String.valueOf(entries.get("fortran_order"));
        String descr = String.valueOf(entries.get("descr"));
        if ((!order.equals("True") && !order.equals("False")) || !descr.startsWith("'")
                || !String.valueOf(entries.get("shape")).startsWith("(")) {
            throw new FileFormatException(source, offset,
                    "descr must be a text, fortran_order True or False and shape a tuple, but the header is "
                            + quoted(text));
        }
        return typed(source, offset, descr.substring(1, descr.length() - 1), order.equals("True"),
                shape(source, offset, String.valueOf(entries.get("shape"))), length);
    }

    private static NpyHeader typed(String source, int offset, String descr, boolean fortran, Shape shape, int length)
            throws FileFormatException {
        DType dtype = descr.length() >= 3 && "<>|=".indexOf(descr.charAt(0)) >= 0
                ? TYPES.get(descr.substring(1))
                : null;
        if (dtype == null) {
            throw new FileFormatException(source, offset,
                    "the type must be one of f4, f8, f2, V2 (bfloat16), i1, i2, i4, i8, u1, u2, u4, u8, b1, c8 and c16, but is '"
                            + descr + "': convert the array with astype");
        }
        TensorSpec spec = TensorSpec.of(dtype, shape);
        try {
            if (spec.bytes() < 0) {
                throw new FileFormatException(source, offset, "the shape " + shape + " is too large");
            }
        } catch (IllegalArgumentException e) {
            FileFormatException wrong = new FileFormatException(source, offset, "the shape " + shape + " is too large");
            wrong.initCause(e);
            throw wrong;
        }
        return new NpyHeader(dtype, descr.charAt(0) == '>', fortran, shape, length);
    }

    private static Shape shape(String source, int offset, String text) throws FileFormatException {
        List<Long> dims = new ArrayList<>();
        String inner = text.substring(1, text.length() - 1);
        String[] parts = inner.isBlank() ? new String[0] : inner.split(",", -1);
        try {
            for (int i = 0; i < parts.length; i++) {
                String part = parts[i].strip();
                // (5,) is a tuple with one element.
                if (!(part.isEmpty() && i == parts.length - 1 && i > 0)) {
                    dims.add(Long.parseLong(part.endsWith("L") ? part.substring(0, part.length() - 1) : part));
                }
            }
            if (dims.size() > MOST_DIMENSIONS) {
                throw new FileFormatException(source, offset,
                        "there may be at most " + MOST_DIMENSIONS + " dimensions, but there are " + dims.size());
            }
            return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
        } catch (IllegalArgumentException e) {
            FileFormatException wrong = new FileFormatException(source, offset,
                    "the shape must be a tuple of numbers from 0, whose product is a long, but is " + quoted(text));
            wrong.initCause(e);
            throw wrong;
        }
    }

    private static String quoted(String text) {
        String shown = text.length() > 100 ? text.substring(0, 100) + "…" : text;
        return "'" + shown.strip().replaceAll("[^ -~…]", "?") + "'";
    }

    /** The bytes before the data of a tensor. */
    static byte[] of(TensorSpec spec) {
        StringBuilder dims = new StringBuilder();
        for (long dim : spec.shape().dims()) {
            dims.append(dim).append(dims.isEmpty() && spec.shape().rank() == 1 ? "," : ", ");
        }
        if (spec.shape().rank() > 1) {
            dims.setLength(dims.length() - 2);
        }
        String dictionary = "{'descr': '" + descr(spec.dtype()) + "', 'fortran_order': False, 'shape': (" + dims
                + "), }";
        int prefix = MAGIC.length + 4;
        int length = (prefix + dictionary.length() + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - prefix;
        byte[] header = new byte[prefix + length];
        Arrays.fill(header, (byte) ' ');
        System.arraycopy(MAGIC, 0, header, 0, MAGIC.length);
        header[MAGIC.length] = 1;
        header[MAGIC.length + 1] = 0;
        header[MAGIC.length + 2] = (byte) length;
        header[MAGIC.length + 3] = (byte) (length >>> 8);
        System.arraycopy(dictionary.getBytes(StandardCharsets.ISO_8859_1), 0, header, prefix, dictionary.length());
        header[header.length - 1] = '\n';
        return header;
    }

    private static String descr(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> "<f4";
            case FLOAT64 -> "<f8";
            case FLOAT16 -> "<f2";
            case BFLOAT16 -> "<V2";
            case INT8 -> "|i1";
            case INT16 -> "<i2";
            case INT32 -> "<i4";
            case INT64 -> "<i8";
            case UINT8 -> "|u1";
            case UINT16 -> "<u2";
            case UINT32 -> "<u4";
            case UINT64 -> "<u8";
            case BOOL -> "|b1";
            case COMPLEX64 -> "<c8";
            case COMPLEX128 -> "<c16";
        };
    }
}
