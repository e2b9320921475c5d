package io.seriatim.mxnet.translate;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The translators by operator. Each family of operators registers its own. */
final class Translators {
    private static final Translators ALL = new Translators();

    private final Map<String, Translator> byOperator = new HashMap<>();

    private Translators() {
        UnaryTranslators.register(this);
        BinaryTranslators.register(this);
        ActivationTranslators.register(this);
        ConvolutionTranslators.register(this);
        PoolingTranslators.register(this);
        NormalizationTranslators.register(this);
        ProductTranslators.register(this);
        ReductionTranslators.register(this);
        ShapeTranslators.register(this);
        ExpansionTranslators.register(this);
        IndexingTranslators.register(this);
        SlicingTranslators.register(this);
        OrderingTranslators.register(this);
        RecurrentTranslators.register(this);
        SequenceTranslators.register(this);
        CreationTranslators.register(this);
        DetectionTranslators.register(this);
        RegionTranslators.register(this);
        DeformableTranslators.register(this);
        LossTranslators.register(this);
        AssignmentTranslators.register(this);
        MatrixTranslators.register(this);
        NumpyElementTranslators.register(this);
        NumpyReductionTranslators.register(this);
        NumpyShapeTranslators.register(this);
        NumpyProductTranslators.register(this);
        AttentionTranslators.register(this);
        SamplingTranslators.register(this);
    }

    static @Nullable Translator find(String operator) {
        return ALL.byOperator.get(operator);
    }

    /** An operator of one output, under each of its names. */
    Translators one(Function<NodeInputs, String> translator, String... operators) {
        return many(node -> List.of(translator.apply(node)), operators);
    }

    /** An operator of several outputs, under each of its names. */
    Translators many(Translator translator, String... operators) {
        for (String operator : operators) {
            if (byOperator.put(operator, translator) != null) {
                throw new IllegalStateException("There are two translators of " + operator);
            }
        }
        return this;
    }
}
