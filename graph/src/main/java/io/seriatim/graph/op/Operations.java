package io.seriatim.graph.op;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The operation types that there are. Those of other modules come from their {@link Provider}s. */
public final class Operations {
    private final Map<String, Operation> byType = new ConcurrentHashMap<>();

    /** Adds operation types; found as a service. */
    public interface Provider {
        /**
         * Adds them.
         *
         * @param registry
         *            where they go
         */
        void register(Operations registry);
    }

    private static final class OfProcess {
        static final Operations OPERATIONS = load();

        private OfProcess() {
        }

        private static Operations load() {
            Operations operations = new Operations();
            for (Provider family : BUILT_IN) {
                family.register(operations);
            }
            ServiceLoader.load(Provider.class).forEach(provider -> provider.register(operations));
            return operations;
        }
    }

    private static final List<Provider> BUILT_IN = List.of(//
            ActivationOperations::register, //
            AdamOperations::register, //
            AverageOperations::register, //
            BatchNormOperations::register, //
            BitwiseOperations::register, //
            ChainProductOperations::register, //
            CommunicationOperations::register, //
            ComparisonOperations::register, //
            ControlOperations::register, //
            ConvolutionOperations::register, //
            CopyOperations::register, //
            CountOperations::register, //
            DebuggingOperations::register, //
            DecompositionOperations::register, //
            DiagonalOperations::register, //
            DropoutOperations::register, //
            EinsumOperations::register, //
            ElementaryOperations::register, //
            ElementwiseOperations::register, //
            EmbeddingOperations::register, //
            ExpandOperations::register, //
            FillDiagonalOperations::register, //
            FillOperations::register, //
            GatherOperations::register, //
            GridOperations::register, //
            IndexPutOperations::register, //
            InputOutputOperations::register, //
            InterpolationOperations::register, //
            InverseOperations::register, //
            JoinOperations::register, //
            LegacyOperations::register, //
            LossOperations::register, //
            LossScalingOperations::register, //
            MetricOperations::register, //
            MovementOperations::register, //
            NormOperations::register, //
            NormalisationOperations::register, //
            OptimizerOperations::register, //
            OrderOperations::register, //
            PadOperations::register, //
            PairOperations::register, //
            ParametricActivationOperations::register, //
            PatchOperations::register, //
            PoolPlaceOperations::register, //
            PoolingOperations::register, //
            PowerOperations::register, //
            ProbabilityLossOperations::register, //
            ProductOperations::register, //
            PutAlongAxisOperations::register, //
            RandomOperations::register, //
            RecurrentOperations::register, //
            ReductionOperations::register, //
            RunningOperations::register, //
            SamplingOperations::register, //
            ScaleOperations::register, //
            ScatterOperations::register, //
            SelectionOperations::register, //
            SequenceOperations::register, //
            SetValueOperations::register, //
            ShapeOperations::register, //
            ShrinkOperations::register, //
            SliceOperations::register, //
            SoftmaxOperations::register, //
            SolverOperations::register, //
            SpectralNormOperations::register, //
            SpectrumOperations::register, //
            SumOperations::register, //
            TensorListOperations::register, //
            UniqueOperations::register, //
            TransposedConvolutionOperations::register);

    private Operations() {
    }

    /**
     * Those of the process.
     *
     * @return always the same
     */
    public static Operations system() {
        return OfProcess.OPERATIONS;
    }

    /**
     * Adds an operation type.
     *
     * @param operation
     *            the type
     * @return this
     * @throws IllegalArgumentException
     *             if there is one of that name
     */
    public Operations add(Operation operation) {
        if (byType.putIfAbsent(operation.type(), operation) != null) {
            throw new IllegalArgumentException("There is an operation type '" + operation.type() + "' already; choose another name");
        }
        return this;
    }

    /**
     * An operation type.
     *
     * @param type
     *            its name
     * @return null if there is none
     */
    public @Nullable Operation find(String type) {
        return byType.get(type);
    }

    /**
     * An operation type.
     *
     * @param type
     *            its name
     * @return the type
     * @throws IllegalArgumentException
     *             if there is none
     */
    public Operation get(String type) {
        Operation operation = byType.get(type);
        if (operation == null) {
            throw new IllegalArgumentException("There is no operation type '" + type
                    + "'; docs/operations.md lists those there are, and a Provider of your own adds others");
        }
        return operation;
    }

    /**
     * All operation types.
     *
     * @return by name
     */
    public Collection<Operation> all() {
        return new TreeMap<>(byType).values();
    }
}
