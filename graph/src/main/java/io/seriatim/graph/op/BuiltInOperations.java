package io.seriatim.graph.op;

import java.util.List;

/** All families of operation types, one class each; found as a service. */
public final class BuiltInOperations implements Operations.BuiltIn {
    private static final List<Operations.Provider> FAMILIES = List.of(//
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
            CumulativeOperations::register, //
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

    /** For the service loader. */
    public BuiltInOperations() {
    }

    @Override
    public void register(Operations registry) {
        FAMILIES.forEach(family -> family.register(registry));
    }
}
