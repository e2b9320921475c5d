package io.seriatim.tensor.internal.ffi;

/** Constants of oneDNN's C interface, version 3. */
public final class DnnlConstants {
    static final int ENGINE_CPU = 1;
    static final int STREAM_DEFAULT = 1;
    static final int FORMAT_ANY = 1;
    static final int SCRATCHPAD_USER = 1;
    static final int QUERY_IMPL_INFO = 8;
    static final int QUERY_STRIDES = 14;
    static final int QUERY_DIMENSIONS = 256;
    static final int QUERY_LENGTHS = 257;
    static final int QUERY_DATA_TYPE = 258;
    static final int QUERY_BLOCKS = 263;
    static final int QUERY_BLOCK_SIZES = 264;
    static final int QUERY_BLOCK_DIMENSIONS = 265;

    /** Element types. */
    public static final int F16 = 1;
    /** bfloat16. */
    public static final int BF16 = 2;
    /** float32. */
    public static final int F32 = 3;
    /** int32. */
    public static final int S32 = 4;
    /** int8. */
    public static final int S8 = 5;
    /** uint8. */
    public static final int U8 = 6;

    /** Propagation kinds. */
    public static final int FORWARD_TRAINING = 64;
    /** Without what only a gradient needs. */
    public static final int FORWARD_INFERENCE = 96;
    /** All gradients. */
    public static final int BACKWARD = 128;
    /** The gradient of the data only. */
    public static final int BACKWARD_DATA = 160;

    /** Algorithms: convolution. */
    public static final int CONVOLUTION_DIRECT = 1;
    /** Algorithms: transposed convolution. */
    public static final int DECONVOLUTION_DIRECT = 0xa;
    /** Algorithms: pooling. */
    public static final int POOLING_MAX = 0x1ff;
    /** The mean over a window, padding counted. */
    public static final int POOLING_AVERAGE_WITH_PADDING = 0x2ff;
    /** The mean over a window, padding not counted. */
    public static final int POOLING_AVERAGE = 0x3ff;
    /** Algorithms: softmax. */
    public static final int SOFTMAX = 0x30000;
    /** Its logarithm. */
    public static final int SOFTMAX_LOG = 0x30001;

    /** Normalisation: mean and variance are inputs. */
    public static final int USE_GLOBAL_STATS = 1;
    /** Normalisation: there is a scale. */
    public static final int USE_SCALE = 2;
    /** Normalisation: there is a shift. */
    public static final int USE_SHIFT = 4;

    /** Arguments of primitives. */
    public static final int SRC = 1;
    /** The second source. */
    public static final int SRC_1 = 2;
    /** The destination. */
    public static final int DST = 17;
    /** Weights. */
    public static final int WEIGHTS = 33;
    /** Bias. */
    public static final int BIAS = 41;
    /** Mean. */
    public static final int MEAN = 49;
    /** Variance. */
    public static final int VARIANCE = 50;
    /** Scale. */
    public static final int SCALE = 51;
    /** Shift. */
    public static final int SHIFT = 52;
    /** What a forward primitive leaves for its gradient. */
    public static final int WORKSPACE = 64;
    /** Scratch memory. */
    public static final int SCRATCHPAD = 80;
    /** Gradient of the source. */
    public static final int DIFF_SRC = 129;
    /** Gradient of the destination. */
    public static final int DIFF_DST = 145;
    /** Gradient of the weights. */
    public static final int DIFF_WEIGHTS = 161;
    /** Gradient of the bias. */
    public static final int DIFF_BIAS = 169;
    /** Gradient of the scale. */
    public static final int DIFF_SCALE = 255;
    /** Gradient of the shift. */
    public static final int DIFF_SHIFT = 256;
    /** The largest number of dimensions. */
    public static final int MOST_DIMENSIONS = 12;
    /** The largest number of post-ops. */
    public static final int MOST_POST_OPS = 32;
    /** The argument of an operand's scales is this, or-ed with that of the operand. */
    public static final int SCALES = 4096;
    /** Of post-op number i the argument is this times (i + 1), or-ed with SRC_1. */
    public static final int POST_OP = 32768;

    /** Queries for memory descriptions: source. */
    public static final int QUERY_SRC = 129;
    /** Gradient of the source. */
    public static final int QUERY_DIFF_SRC = 130;
    /** Weights. */
    public static final int QUERY_WEIGHTS = 131;
    /** Gradient of the weights. */
    public static final int QUERY_DIFF_WEIGHTS = 132;
    /** Destination. */
    public static final int QUERY_DST = 133;
    /** Gradient of the destination. */
    public static final int QUERY_DIFF_DST = 134;
    /** Workspace. */
    public static final int QUERY_WORKSPACE = 135;
    /** Scratch memory. */
    public static final int QUERY_SCRATCHPAD = 136;
    /** dnnl_query_exec_arg_md: of the argument whose number is the index. */
    public static final int QUERY_ARGUMENT = 255;

    private DnnlConstants() {
    }
}
