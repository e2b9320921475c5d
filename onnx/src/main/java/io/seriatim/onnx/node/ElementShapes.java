package io.seriatim.onnx.node;

import io.seriatim.graph.op.ArgType;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What is known of the shapes of a list's tensors. */
public final class ElementShapes {
    /** Of a list that is empty, or of which nothing is known yet. */
    public static final ElementShapes NONE = new ElementShapes(null);
    /** Of tensors whose numbers of dimensions are not known or differ. */
    public static final ElementShapes ANY = new ElementShapes(null);

    private final long @Nullable [] dims;

    private ElementShapes(long @Nullable [] dims) {
        this.dims = dims;
    }

    /** Tensors of some dimensions, −1 where they are unknown or differ. */
    public static ElementShapes of(long... dims) {
        return new ElementShapes(dims.clone());
    }

    /** Tensors of which only the number of dimensions is known. */
    public static ElementShapes ofRank(int rank) {
        long[] unknown = new long[rank];
        Arrays.fill(unknown, -1);
        return new ElementShapes(unknown);
    }

    /** Whether the number of dimensions of all tensors is known. */
    public boolean isRankKnown() {
        return dims != null;
    }

    /** The dimensions, −1 where they are unknown or differ; none if not even their number is known. */
    public long[] dims() {
        return dims == null ? new long[0] : dims.clone();
    }

    /** The type of an array of such tensors. */
    ArgType array(DType dtype) {
        return ArgType.array(dtype, dims());
    }

    /** What is known of all these tensors and others. */
    public ElementShapes and(ElementShapes others) {
        if (this == NONE || others == NONE) {
            return this == NONE ? others : this;
        }
        if (dims == null || others.dims == null || dims.length != others.dims.length) {
            return ANY;
        }
        long[] common = dims.clone();
        for (int i = 0; i < common.length; i++) {
            common[i] = dims[i] == others.dims[i] ? dims[i] : -1;
        }
        return new ElementShapes(common);
    }

    @Override
    public String toString() {
        return this == NONE ? "none" : this == ANY ? "any" : Arrays.toString(dims);
    }
}
