package io.seriatim.graph.ops;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.activation.ActivationOperations;
import io.seriatim.graph.ops.activation.ParametricActivationOperations;
import io.seriatim.graph.ops.activation.ShrinkOperations;
import io.seriatim.graph.ops.activation.SoftmaxOperations;
import io.seriatim.graph.ops.control.CommunicationOperations;
import io.seriatim.graph.ops.control.ControlOperations;
import io.seriatim.graph.ops.control.DebuggingOperations;
import io.seriatim.graph.ops.control.InputOutputOperations;
import io.seriatim.graph.ops.control.TensorListOperations;
import io.seriatim.graph.ops.convolution.ConvolutionOperations;
import io.seriatim.graph.ops.convolution.TransposedConvolutionOperations;
import io.seriatim.graph.ops.creation.DiagonalOperations;
import io.seriatim.graph.ops.creation.FillDiagonalOperations;
import io.seriatim.graph.ops.creation.FillOperations;
import io.seriatim.graph.ops.creation.SequenceOperations;
import io.seriatim.graph.ops.cumulative.CumulativeOperations;
import io.seriatim.graph.ops.elementwise.BitwiseOperations;
import io.seriatim.graph.ops.elementwise.ComparisonOperations;
import io.seriatim.graph.ops.elementwise.ElementaryOperations;
import io.seriatim.graph.ops.elementwise.ElementwiseOperations;
import io.seriatim.graph.ops.elementwise.PairOperations;
import io.seriatim.graph.ops.elementwise.PowerOperations;
import io.seriatim.graph.ops.elementwise.ScaleOperations;
import io.seriatim.graph.ops.elementwise.SumOperations;
import io.seriatim.graph.ops.image.GridOperations;
import io.seriatim.graph.ops.image.InterpolationOperations;
import io.seriatim.graph.ops.image.PatchOperations;
import io.seriatim.graph.ops.indexing.EmbeddingOperations;
import io.seriatim.graph.ops.indexing.GatherOperations;
import io.seriatim.graph.ops.indexing.IndexPutOperations;
import io.seriatim.graph.ops.indexing.PutAlongAxisOperations;
import io.seriatim.graph.ops.indexing.ScatterOperations;
import io.seriatim.graph.ops.indexing.SelectionOperations;
import io.seriatim.graph.ops.indexing.SetValueOperations;
import io.seriatim.graph.ops.indexing.SliceOperations;
import io.seriatim.graph.ops.linalg.ChainProductOperations;
import io.seriatim.graph.ops.linalg.DecompositionOperations;
import io.seriatim.graph.ops.linalg.EinsumOperations;
import io.seriatim.graph.ops.linalg.InverseOperations;
import io.seriatim.graph.ops.linalg.ProductOperations;
import io.seriatim.graph.ops.linalg.SolverOperations;
import io.seriatim.graph.ops.linalg.SpectrumOperations;
import io.seriatim.graph.ops.linalg.VectorOperations;
import io.seriatim.graph.ops.loss.LossOperations;
import io.seriatim.graph.ops.loss.ProbabilityLossOperations;
import io.seriatim.graph.ops.metric.MetricOperations;
import io.seriatim.graph.ops.normalisation.BatchNormOperations;
import io.seriatim.graph.ops.normalisation.NormalisationOperations;
import io.seriatim.graph.ops.normalisation.SpectralNormOperations;
import io.seriatim.graph.ops.optimizer.AdamOperations;
import io.seriatim.graph.ops.optimizer.AverageOperations;
import io.seriatim.graph.ops.optimizer.LossScalingOperations;
import io.seriatim.graph.ops.optimizer.MergedOptimizerOperations;
import io.seriatim.graph.ops.optimizer.OptimizerOperations;
import io.seriatim.graph.ops.optimizer.RarerOptimizerOperations;
import io.seriatim.graph.ops.ordering.OrderOperations;
import io.seriatim.graph.ops.ordering.UniqueOperations;
import io.seriatim.graph.ops.pooling.PoolPlaceOperations;
import io.seriatim.graph.ops.pooling.PoolingOperations;
import io.seriatim.graph.ops.random.DistributionOperations;
import io.seriatim.graph.ops.random.DropoutOperations;
import io.seriatim.graph.ops.random.InPlaceRandomOperations;
import io.seriatim.graph.ops.random.RandomOperations;
import io.seriatim.graph.ops.random.RandomizedReluOperations;
import io.seriatim.graph.ops.random.SamplingOperations;
import io.seriatim.graph.ops.recurrent.RecurrentOperations;
import io.seriatim.graph.ops.reduction.CountOperations;
import io.seriatim.graph.ops.reduction.NormOperations;
import io.seriatim.graph.ops.reduction.ReductionOperations;
import io.seriatim.graph.ops.shape.CopyOperations;
import io.seriatim.graph.ops.shape.ExpandOperations;
import io.seriatim.graph.ops.shape.JoinOperations;
import io.seriatim.graph.ops.shape.MovementOperations;
import io.seriatim.graph.ops.shape.PadOperations;
import io.seriatim.graph.ops.shape.ShapeOperations;
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
            DistributionOperations::register, //
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
            InPlaceRandomOperations::register, //
            IndexPutOperations::register, //
            InputOutputOperations::register, //
            InterpolationOperations::register, //
            InverseOperations::register, //
            JoinOperations::register, //
            LossOperations::register, //
            LossScalingOperations::register, //
            MergedOptimizerOperations::register, //
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
            RandomizedReluOperations::register, //
            RarerOptimizerOperations::register, //
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
            VectorOperations::register, //
            TransposedConvolutionOperations::register);

    /** For the service loader. */
    public BuiltInOperations() {
    }

    @Override
    public void register(Operations registry) {
        FAMILIES.forEach(family -> family.register(registry));
    }
}
