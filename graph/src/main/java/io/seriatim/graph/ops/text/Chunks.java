package io.seriatim.graph.ops.text;

import java.util.ArrayList;
import java.util.List;

/** Finds the chunks that a sequence of labels marks. A label is the number of a type times that of tags, plus a tag. */
final class Chunks {
    /** Stands for a tag that a scheme does not have. */
    private static final int NONE = -1;

    private final Scheme scheme;
    private final int types;

    /** The schemes by which tags mark where a chunk begins and ends. */
    enum Scheme {
        IOB(2, 0, 1, NONE, NONE), IOE(2, NONE, 0, 1, NONE), IOBES(4, 0, 1, 2, 3), PLAIN(1, NONE, NONE, NONE, NONE);

        private final int tags;
        private final int begin;
        private final int inside;
        private final int end;
        private final int single;

        Scheme(int tags, int begin, int inside, int end, int single) {
            this.tags = tags;
            this.begin = begin;
            this.inside = inside;
            this.end = end;
            this.single = single;
        }
    }

    /**
     * A part of a sequence.
     *
     * @param begin
     *            its first index
     * @param end
     *            its last index
     * @param type
     *            what it is
     */
    record Chunk(int begin, int end, int type) {
    }

    /**
     * Of a scheme.
     *
     * @param types
     *            how many types of chunks there are; this number as a type stands for none
     */
    Chunks(Scheme scheme, int types) {
        this.scheme = scheme;
        this.types = types;
    }

    /** The largest label. */
    long most() {
        return (long) types * scheme.tags;
    }

    List<Chunk> find(long[] labels, int at, int length) {
        List<Chunk> chunks = new ArrayList<>();
        int begin = NONE;
        int tag = NONE;
        int type = types;
        for (int i = 0; i < length; i++) {
            int tagBefore = tag;
            int typeBefore = type;
            long label = labels[at + i];
            if (label > most()) {
                throw new IllegalArgumentException("Operation 'chunk_eval': labels must be at most " + most()
                        + ", the number of chunk types times that of tags, but one is " + label);
            }
            tag = (int) (label % scheme.tags);
            type = (int) (label / scheme.tags);
            if (begin != NONE && isAfterEnd(tagBefore, typeBefore, tag, type)) {
                chunks.add(new Chunk(begin, i - 1, typeBefore));
                begin = NONE;
            }
            if (isBegin(tagBefore, typeBefore, tag, type)) {
                begin = i;
            }
        }
        if (begin != NONE) {
            chunks.add(new Chunk(begin, length - 1, type));
        }
        return chunks;
    }

    /** Whether a chunk, in which the label before was, has ended before a label. */
    private boolean isAfterEnd(int tagBefore, int typeBefore, int tag, int type) {
        if (typeBefore == types) {
            return false;
        }
        if (type != typeBefore) {
            return true;
        }
        if (tagBefore == scheme.begin || tagBefore == scheme.inside) {
            return tag == scheme.begin || tag == scheme.single;
        }
        return tagBefore == scheme.end || tagBefore == scheme.single;
    }

    private boolean isBegin(int tagBefore, int typeBefore, int tag, int type) {
        if (typeBefore == types || type == types) {
            return type != types;
        }
        if (type != typeBefore || tag == scheme.begin) {
            return true;
        }
        if (tag == scheme.inside || tag == scheme.end) {
            return tagBefore == scheme.end || tagBefore == scheme.single;
        }
        return tag == scheme.single;
    }
}
