package io.seriatim.tensor;

import java.util.Arrays;

/** The arrangement of a tensor's elements in memory. */
public sealed interface Layout {
    /** Dense, the last dimension fastest. */
    Layout ROW_MAJOR = new RowMajor();

    /**
     * A layout with strides of its own.
     *
     * @param strides
     *            the distance between neighbours in each dimension, in elements; 0 repeats an element, a negative one
     *            runs backwards
     * @return the layout
     */
    static Layout strided(long... strides) {
        return new Strided(strides.clone());
    }

    /** Dense, the last dimension fastest. There is one instance: {@link #ROW_MAJOR}. */
    final class RowMajor implements Layout {
        private RowMajor() {
        }

        @Override
        public String toString() {
            return "row-major";
        }
    }

    /** With a stride for each dimension: a view. */
    final class Strided implements Layout {
        private final long[] strides;

        private Strided(long[] strides) {
            this.strides = strides;
        }

        /**
         * The distance between neighbours in each dimension.
         *
         * @return in elements; a copy
         */
        public long[] strides() {
            return strides.clone();
        }

        /** One of the strides, without a copy of all. */
        long stride(int axis) {
            return strides[axis];
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Strided layout && Arrays.equals(strides, layout.strides);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(strides);
        }

        @Override
        public String toString() {
            return "strides " + Arrays.toString(strides);
        }
    }

    /** A layout that only one library can read, for instance a blocked layout of oneDNN. */
    final class Opaque implements Layout {
        private final String library;
        private final byte[] descriptor;
        private final long bytes;

        /**
         * Describes it.
         *
         * @param library
         *            the library that can read it
         * @param descriptor
         *            the library's own description; equal ones are equal layouts
         * @param bytes
         *            the memory that a tensor of it takes
         */
        public Opaque(String library, byte[] descriptor, long bytes) {
            this.library = library;
            this.descriptor = descriptor.clone();
            this.bytes = bytes;
        }

        /**
         * The library that can read it.
         *
         * @return its name
         */
        public String library() {
            return library;
        }

        /**
         * The library's own description.
         *
         * @return a copy
         */
        public byte[] descriptor() {
            return descriptor.clone();
        }

        /**
         * The memory that a tensor of it takes.
         *
         * @return in bytes
         */
        public long bytes() {
            return bytes;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Opaque layout && library.equals(layout.library)
                    && Arrays.equals(descriptor, layout.descriptor);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(descriptor);
        }

        @Override
        public String toString() {
            return "blocked by " + library;
        }
    }
}
