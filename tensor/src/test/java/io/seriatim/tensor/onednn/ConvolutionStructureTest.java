package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.Attributes;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Descriptors;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Convolutions that the library is asked for only when they run. */
class ConvolutionStructureTest {
    private static final long SEED = 20261127;
    private static final long[] CHANNELS = {1, 3, 8, 16, 20, 24, 32, 48, 64, 96, 100};

    private static TensorSpec images(boolean channelsLast, long n, long c, long h, long w) {
        Shape shape = Shape.of(n, c, h, w);
        return channelsLast
                ? new TensorSpec(DType.FLOAT32, shape, Layout.strided(c * h * w, 1, w * c, c))
                : TensorSpec.of(DType.FLOAT32, shape);
    }

    private static List<TensorSpec> operands(long n, long h, long w) {
        return List.of(images(true, n, 16, h, w), TensorSpec.of(DType.FLOAT32, Shape.of(24, 16, 3, 3)),
                images(true, n, 24, h, w));
    }

    @Test
    void imagesOfAStructureMayDiffer() {
        Convolution convolution = new Convolution(Window.of(2, 1, 1), 1, false, List.of());
        ConvolutionStructure structure = ConvolutionStructure.of(convolution, operands(3, 40, 100));
        assertEquals(structure, ConvolutionStructure.of(convolution, operands(2, 63, 65)));
        assertNotEquals(structure, ConvolutionStructure.of(convolution, operands(1, 40, 100)));
        assertNotEquals(structure, ConvolutionStructure.of(convolution, operands(3, 40, 15)));
        assertNull(ConvolutionStructure.of(convolution, operands(3, 0, 15)));
    }

    /** What is decided for representative images is right for others: each kernel is the library's when it is made. */
    @Test
    void theLibraryHasTheConvolutionsThatAreExpectedOfIt() {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        Dnnl dnnl = Dnnl.require();
        SplittableRandom random = new SplittableRandom(SEED);
        int lazy = 0;
        for (int i = 0; i < 300; i++) {
            List<TensorSpec> operands = new ArrayList<>();
            Convolution convolution = random(random, operands);
            Kernel kernel = ConvolutionForward.kernel(dnnl, convolution, operands.toArray(TensorSpec[]::new));
            if (kernel instanceof LazyKernel promised) {
                lazy++;
                Kernel made = promised.made();
                String text = "seed " + SEED + ", convolution " + i + ": " + convolution + " of " + operands;
                assertInstanceOf(DnnlKernel.class, made, text);
            }
            if (kernel != null) {
                kernel.close();
            }
        }
        assertTrue(lazy > 200, lazy + " of 300 convolutions were promised");
    }

    /** The library describes it once, for the layout of the weights and for the kernel that reads it. */
    @Test
    void theKernelOfPackedWeightsIsDescribedWithTheirLayout() {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        Dnnl dnnl = Dnnl.require();
        SplittableRandom random = new SplittableRandom(SEED);
        int packed = 0;
        for (int i = 0; i < 100; i++) {
            List<TensorSpec> operands = new ArrayList<>();
            Convolution convolution = random(random, operands);
            TensorSpec[] specs = operands.toArray(TensorSpec[]::new);
            Kernel kernel = ConvolutionForward.kernel(dnnl, convolution, specs);
            TensorSpec wanted = kernel == null ? specs[1] : kernel.preferred(1, specs[1]);
            if (kernel instanceof LazyKernel && wanted.layout() instanceof Layout.Opaque) {
                specs[1] = wanted;
                DnnlKernel described = DescribedKernels.take(convolution, specs);
                if (described != null) {
                    packed++;
                    assertEquals(wanted, kernel.preferred(1, operands.get(1)));
                    assertNull(DescribedKernels.take(convolution, specs), "asked once");
                    described.load();
                    described.close();
                }
            }
            if (kernel != null) {
                kernel.close();
            }
        }
        assertTrue(packed > 50, packed + " of 100 convolutions had packed weights");
    }

    /** Such as one for plain images that reorders them and then runs the reference. */
    @Test
    void whatContainsAReferenceIsNotFast() {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not loaded");
        Dnnl dnnl = Dnnl.require();
        Geometry geometry = new Geometry(Window.of(2, 2, 1), 1);
        List<PostOp> postOps = List.of(new PostOp.Combine(Binary.Function.ADD),
                new PostOp.Apply(Unary.Function.RELU, 0, 0));
        for (long channels : CHANNELS) {
            TensorSpec x = images(false, 1, channels, 1, 2);
            TensorSpec w = TensorSpec.of(DType.FLOAT32, Shape.of(channels, channels, 3, 3));
            TensorSpec y = images(false, 1, channels, 1, 1);
            assertNull(DnnlKernel.of(dnnl, builder -> {
                Descriptors descriptors = new Descriptors(builder.describe(x),
                        ConvolutionRecipes.weights(builder, geometry, w), null, builder.describe(y));
                Attributes attributes = Objects.requireNonNull(
                        builder.tryAttributes(postOps, List.of(builder.describe(y))));
                PrimitiveDescriptor descriptor = ConvolutionRecipes.tryForward(builder, geometry, descriptors,
                        attributes, DnnlConstants.FORWARD_INFERENCE);
                if (descriptor != null) {
                    String name = dnnl.implementation(descriptor);
                    boolean isFast = builder.keepFast(descriptor) != null;
                    assertEquals(!name.contains("ref"), isFast, name);
                }
                return false;
            }));
        }
    }

    private static Convolution random(SplittableRandom random, List<TensorSpec> operands) {
        boolean last = random.nextBoolean();
        long inputs = CHANNELS[random.nextInt(CHANNELS.length)];
        boolean depthwise = random.nextInt(3) == 0;
        long outputs = depthwise ? inputs : CHANNELS[random.nextInt(CHANNELS.length)];
        int kernel = 1 + 2 * random.nextInt(3);
        Window window = Window.of(2, 1 + random.nextInt(2), random.nextBoolean() ? kernel / 2 : 0);
        long n = 1L + random.nextInt(4);
        long h = (long) kernel + random.nextInt(60);
        long w = (long) kernel + random.nextInt(60);
        TensorSpec y =
                images(last, n, outputs, window.places(0, h, kernel), window.places(1, w, kernel));
        operands.add(images(last, n, inputs, h, w));
        operands.add(TensorSpec.of(DType.FLOAT32, Shape.of(outputs, depthwise ? 1 : inputs, kernel, kernel)));
        boolean bias = random.nextBoolean();
        if (bias) {
            operands.add(TensorSpec.of(DType.FLOAT32, Shape.of(outputs)));
        }
        List<PostOp> postOps = new ArrayList<>();
        if (random.nextBoolean()) {
            postOps.add(new PostOp.Combine(Binary.Function.ADD));
            operands.add(random.nextBoolean() ? y : TensorSpec.of(DType.FLOAT32, Shape.of(1, outputs, 1, 1)));
        }
        if (random.nextBoolean()) {
            postOps.add(new PostOp.Apply(Unary.Function.RELU, 0, 0));
        }
        operands.add(y);
        return new Convolution(window, depthwise ? (int) inputs : 1, bias, postOps);
    }
}
