package io.seriatim.tensor.onednn;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Descriptors;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Geometry;
import io.seriatim.tensor.onednn.ConvolutionRecipes.Images;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which of the library's convolutions are used. */
class ConvolutionRecipesTest {
    private static final Window WINDOW = Window.of(2, 1, 1);

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(), () -> "oneDNN is not there: " + OneDnn.status().problem());
    }

    /**
     * What gathers columns takes plain images and weights: it must not be chosen for that where the library has
     * something better.
     */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"FLOAT32", "BFLOAT16"})
    void plainImagesAreBroughtToTheLayoutOfTheBestKernel(DType dtype) {
        TensorSpec images = TensorSpec.of(dtype, 16, 64, 16, 16);
        TensorSpec weights = TensorSpec.of(dtype, 64, 64, 3, 3);
        assumeFalse(isBestByColumns(images, weights), "the library has nothing better on this processor");
        try (Kernel kernel = Kernels.system().prepare(new Convolution(WINDOW, 1, false, List.of()), Place.CPU, images,
                weights, images)) {
            assertInstanceOf(Layout.Opaque.class, kernel.preferred(1, weights).layout());
        }
    }

    private static boolean isBestByColumns(TensorSpec images, TensorSpec weights) {
        Dnnl dnnl = Objects.requireNonNull(Dnnl.get());
        Handles handles = new Handles();
        try {
            SequenceBuilder builder = new SequenceBuilder(dnnl, handles, 1);
            Geometry geometry = new Geometry(WINDOW, 1);
            MemoryDescriptor any = ConvolutionRecipes.image(builder, images, Images.ANY);
            PrimitiveDescriptor descriptor = builder.keep(ConvolutionRecipes.tryForward(builder, geometry,
                    new Descriptors(any, ConvolutionRecipes.weights(builder, geometry, weights), null, any),
                    builder.attributes(), DnnlConstants.FORWARD_INFERENCE));
            return descriptor == null || ConvolutionRecipes.isByColumns(dnnl, descriptor);
        } finally {
            handles.run();
        }
    }
}
