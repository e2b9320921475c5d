package io.seriatim.graph.program;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The type of a variable of a program. */
public sealed interface VarType {
    /** The number of Paddle's LOD_TENSOR. */
    int DENSE = 7;
    /** The number of Paddle's SELECTED_ROWS. */
    int ROWS = 8;
    /** The number of Paddle's FEED_MINIBATCH. */
    int FEED_MINIBATCH = 9;
    /** The number of Paddle's FETCH_LIST. */
    int FETCH_LIST = 10;
    /** The number of Paddle's STEP_SCOPES. */
    int STEP_SCOPES = 11;
    /** The number of Paddle's LOD_TENSOR_ARRAY. */
    int ARRAY = 13;
    /** The number of Paddle's READER. */
    int READER = 15;
    /** The number of Paddle's RAW. */
    int RAW = 17;

    /**
     * Type and dimensions of a tensor.
     *
     * @param dataType
     *            Paddle's number of the element type
     * @param dims
     *            the dimensions, −1 where unknown
     */
    record TensorType(int dataType, List<Long> dims) {
        /** Copies the list. */
        public TensorType {
            dims = List.copyOf(dims);
        }

        /**
         * Of an element type.
         *
         * @param dtype
         *            the element type
         * @param dims
         *            the dimensions, −1 where unknown
         * @return the type
         */
        public static TensorType of(DType dtype, long... dims) {
            return new TensorType(DataTypes.number(dtype), Arrays.stream(dims).boxed().toList());
        }

        /**
         * The element type.
         *
         * @return the type
         * @throws IllegalArgumentException
         *             if there are no tensors of it here
         */
        public DType dtype() {
            return DataTypes.dtype(dataType);
        }

        /**
         * The number of dimensions that count for {@link io.seriatim.tensor.Shape#MAX_RANK}: without the 0 in front of
         * an XShape, which remembers the shape of another variable.
         *
         * @return 0 for a single element
         */
        public int rank() {
            return dims.isEmpty() || dims.getFirst() != 0 ? dims.size() : dims.size() - 1;
        }

        /**
         * The dimensions.
         *
         * @return a new array
         */
        public long[] shape() {
            return dims.stream().mapToLong(Long::longValue).toArray();
        }

        /**
         * Whether a tensor is of this type; −1 matches any length.
         *
         * @param spec
         *            of the tensor
         * @return false if its element type or a dimension is another
         */
        public boolean matches(TensorSpec spec) {
            boolean matches = dtype() == spec.dtype() && dims.size() == spec.shape().rank();
            for (int i = 0; matches && i < dims.size(); i++) {
                matches = dims.get(i) < 0 || dims.get(i) == spec.shape().dim(i);
            }
            return matches;
        }

        @Override
        public String toString() {
            return DataTypes.name(dataType)
                    + dims.stream().map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
        }
    }

    /**
     * A dense tensor.
     *
     * @param tensor
     *            its elements' type and dimensions
     * @param lodLevel
     *            levels of offsets, or null if the file does not say
     */
    record Dense(TensorType tensor, @Nullable Integer lodLevel) implements VarType {
    }

    /**
     * Some rows of a tensor: the gradient of an embedding.
     *
     * @param tensor
     *            type and dimensions of the whole
     * @param before
     *            what the variable was declared as before it became rows; Paddle writes that too, and ignores it. Null
     *            if nothing
     */
    record Rows(TensorType tensor, @Nullable Dense before) implements VarType {
        /**
         * Creates the type of a variable that was declared as rows.
         *
         * @param tensor
         *            type and dimensions of the whole
         */
        public Rows(TensorType tensor) {
            this(tensor, null);
        }
    }

    /**
     * A list of tensors.
     *
     * @param tensor
     *            type and dimensions of each
     * @param lodLevel
     *            levels of offsets, or null if the file does not say
     */
    record TensorArray(TensorType tensor, @Nullable Integer lodLevel) implements VarType {
    }

    /**
     * A source of tensors.
     *
     * @param tensors
     *            what it gives each time
     */
    record Reader(List<Dense> tensors) implements VarType {
        /** Copies the list. */
        public Reader {
            tensors = List.copyOf(tensors);
        }
    }

    /**
     * A type without element type and dimensions.
     *
     * @param number
     *            Paddle's number of it
     */
    record Other(int number) implements VarType {
    }

    /**
     * A dense tensor.
     *
     * @param dtype
     *            the element type
     * @param dims
     *            the dimensions, −1 where unknown
     * @return its type
     */
    static VarType dense(DType dtype, long... dims) {
        return new Dense(TensorType.of(dtype, dims), null);
    }

    /**
     * Paddle's number.
     *
     * @return for instance {@link #DENSE}
     */
    default int kind() {
        return switch (this) {
            case Dense _ -> DENSE;
            case Rows _ -> ROWS;
            case TensorArray _ -> ARRAY;
            case Reader _ -> READER;
            case Other(int number) -> number;
        };
    }

    /**
     * The tensor's type.
     *
     * @return null if it holds no tensor
     */
    default @Nullable TensorType tensorType() {
        return switch (this) {
            case Dense(TensorType tensor, Integer _) -> tensor;
            case Rows(TensorType tensor, Dense _) -> tensor;
            case TensorArray(TensorType tensor, Integer _) -> tensor;
            default -> null;
        };
    }

    /**
     * The same kind of variable with another tensor.
     *
     * @param tensor
     *            its elements' type and dimensions
     * @return the type; this if it holds no tensor
     */
    default VarType with(TensorType tensor) {
        return switch (this) {
            case Dense(TensorType _, Integer lodLevel) -> new Dense(tensor, lodLevel);
            case Rows(TensorType _, Dense before) -> new Rows(tensor, before);
            case TensorArray(TensorType _, Integer lodLevel) -> new TensorArray(tensor, lodLevel);
            default -> this;
        };
    }
}
