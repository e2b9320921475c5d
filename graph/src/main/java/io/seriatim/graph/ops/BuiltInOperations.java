package io.seriatim.graph.ops;

import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.activation.ActivationOperations;
import io.seriatim.graph.ops.activation.ParametricActivationOperations;
import io.seriatim.graph.ops.activation.ShrinkOperations;
import io.seriatim.graph.ops.activation.SoftmaxOperations;
import io.seriatim.graph.ops.assignment.AnchorOperations;
import io.seriatim.graph.ops.assignment.DetectionMapOperations;
import io.seriatim.graph.ops.assignment.HardExampleOperations;
import io.seriatim.graph.ops.assignment.MaskOperations;
import io.seriatim.graph.ops.assignment.ProposalLabelOperations;
import io.seriatim.graph.ops.complex.ComplexOperations;
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
import io.seriatim.graph.ops.creation.RarerFillOperations;
import io.seriatim.graph.ops.creation.SequenceOperations;
import io.seriatim.graph.ops.cumulative.CumulativeOperations;
import io.seriatim.graph.ops.detection.BoxOperations;
import io.seriatim.graph.ops.detection.MatchingOperations;
import io.seriatim.graph.ops.detection.PriorOperations;
import io.seriatim.graph.ops.detection.ProposalOperations;
import io.seriatim.graph.ops.detection.SuppressionOperations;
import io.seriatim.graph.ops.detection.YoloOperations;
import io.seriatim.graph.ops.elementwise.BitwiseOperations;
import io.seriatim.graph.ops.elementwise.ComparisonOperations;
import io.seriatim.graph.ops.elementwise.ElementaryOperations;
import io.seriatim.graph.ops.elementwise.ElementwiseOperations;
import io.seriatim.graph.ops.elementwise.PairOperations;
import io.seriatim.graph.ops.elementwise.PowerOperations;
import io.seriatim.graph.ops.elementwise.ScaleOperations;
import io.seriatim.graph.ops.elementwise.SumOperations;
import io.seriatim.graph.ops.fused.FusedOperations;
import io.seriatim.graph.ops.image.ChannelOperations;
import io.seriatim.graph.ops.image.GridOperations;
import io.seriatim.graph.ops.image.InterpolationOperations;
import io.seriatim.graph.ops.image.PatchOperations;
import io.seriatim.graph.ops.indexing.CropOperations;
import io.seriatim.graph.ops.indexing.EmbeddingOperations;
import io.seriatim.graph.ops.indexing.GatherOperations;
import io.seriatim.graph.ops.indexing.IndexPutOperations;
import io.seriatim.graph.ops.indexing.MessageOperations;
import io.seriatim.graph.ops.indexing.PutAlongAxisOperations;
import io.seriatim.graph.ops.indexing.ScatterOperations;
import io.seriatim.graph.ops.indexing.SelectionOperations;
import io.seriatim.graph.ops.indexing.SetValueOperations;
import io.seriatim.graph.ops.indexing.SliceOperations;
import io.seriatim.graph.ops.linalg.ChainProductOperations;
import io.seriatim.graph.ops.linalg.DecompositionOperations;
import io.seriatim.graph.ops.linalg.EigenOperations;
import io.seriatim.graph.ops.linalg.EinsumOperations;
import io.seriatim.graph.ops.linalg.IntegerProductOperations;
import io.seriatim.graph.ops.linalg.InverseOperations;
import io.seriatim.graph.ops.linalg.LeastSquaresOperations;
import io.seriatim.graph.ops.linalg.LuOperations;
import io.seriatim.graph.ops.linalg.ProductOperations;
import io.seriatim.graph.ops.linalg.SolverOperations;
import io.seriatim.graph.ops.linalg.SpectrumOperations;
import io.seriatim.graph.ops.linalg.TensorProductOperations;
import io.seriatim.graph.ops.linalg.VectorOperations;
import io.seriatim.graph.ops.loss.LossOperations;
import io.seriatim.graph.ops.loss.ProbabilityLossOperations;
import io.seriatim.graph.ops.loss.RarerLossOperations;
import io.seriatim.graph.ops.metric.MetricOperations;
import io.seriatim.graph.ops.metric.PrecisionOperations;
import io.seriatim.graph.ops.normalisation.BatchNormOperations;
import io.seriatim.graph.ops.normalisation.LocalResponseOperations;
import io.seriatim.graph.ops.normalisation.NormalisationOperations;
import io.seriatim.graph.ops.normalisation.PlacesBatchNormOperations;
import io.seriatim.graph.ops.normalisation.RootMeanSquareOperations;
import io.seriatim.graph.ops.normalisation.SpectralNormOperations;
import io.seriatim.graph.ops.normalisation.SyncBatchNormOperations;
import io.seriatim.graph.ops.optimizer.AdamOperations;
import io.seriatim.graph.ops.optimizer.AverageOperations;
import io.seriatim.graph.ops.optimizer.LossScalingOperations;
import io.seriatim.graph.ops.optimizer.MergedOptimizerOperations;
import io.seriatim.graph.ops.optimizer.OptimizerOperations;
import io.seriatim.graph.ops.optimizer.RarerOptimizerOperations;
import io.seriatim.graph.ops.ordering.MedianOperations;
import io.seriatim.graph.ops.ordering.OrderOperations;
import io.seriatim.graph.ops.ordering.UniqueOperations;
import io.seriatim.graph.ops.pooling.PoolPlaceOperations;
import io.seriatim.graph.ops.pooling.PoolingOperations;
import io.seriatim.graph.ops.pooling.PyramidPoolingOperations;
import io.seriatim.graph.ops.pooling.UnpoolOperations;
import io.seriatim.graph.ops.quantization.DequantizationOperations;
import io.seriatim.graph.ops.quantization.FakeQuantizationOperations;
import io.seriatim.graph.ops.quantization.LinearQuantizationOperations;
import io.seriatim.graph.ops.quantization.QuantizedProductOperations;
import io.seriatim.graph.ops.random.CategoryOperations;
import io.seriatim.graph.ops.random.DistributionOperations;
import io.seriatim.graph.ops.random.DropoutOperations;
import io.seriatim.graph.ops.random.InPlaceRandomOperations;
import io.seriatim.graph.ops.random.RandomOperations;
import io.seriatim.graph.ops.random.RandomizedReluOperations;
import io.seriatim.graph.ops.random.SamplingOperations;
import io.seriatim.graph.ops.recommendation.ClassCenterOperations;
import io.seriatim.graph.ops.recommendation.ClickOperations;
import io.seriatim.graph.ops.recommendation.DataNormOperations;
import io.seriatim.graph.ops.recommendation.RankingOperations;
import io.seriatim.graph.ops.recommendation.SampledLossOperations;
import io.seriatim.graph.ops.recommendation.TreeLossOperations;
import io.seriatim.graph.ops.recurrent.GruOperations;
import io.seriatim.graph.ops.recurrent.GruUnitOperations;
import io.seriatim.graph.ops.recurrent.LstmOperations;
import io.seriatim.graph.ops.recurrent.RecurrentOperations;
import io.seriatim.graph.ops.reduction.CountOperations;
import io.seriatim.graph.ops.reduction.NormOperations;
import io.seriatim.graph.ops.reduction.ReductionOperations;
import io.seriatim.graph.ops.reduction.SegmentOperations;
import io.seriatim.graph.ops.region.DeformableConvolutionOperations;
import io.seriatim.graph.ops.region.DeformablePoolingOperations;
import io.seriatim.graph.ops.region.RoiAlignOperations;
import io.seriatim.graph.ops.region.RoiPoolOperations;
import io.seriatim.graph.ops.sequence.ImageSequenceOperations;
import io.seriatim.graph.ops.sequence.LodOperations;
import io.seriatim.graph.ops.sequence.RankTableOperations;
import io.seriatim.graph.ops.sequence.SequenceConvolutionOperations;
import io.seriatim.graph.ops.sequence.SequenceElementOperations;
import io.seriatim.graph.ops.sequence.SequenceJoinOperations;
import io.seriatim.graph.ops.sequence.SequencePoolOperations;
import io.seriatim.graph.ops.sequence.SequenceRowOperations;
import io.seriatim.graph.ops.sequence.SequenceSplitOperations;
import io.seriatim.graph.ops.shape.CopyOperations;
import io.seriatim.graph.ops.shape.ExpandOperations;
import io.seriatim.graph.ops.shape.FormerShapeOperations;
import io.seriatim.graph.ops.shape.ImagePadOperations;
import io.seriatim.graph.ops.shape.JoinOperations;
import io.seriatim.graph.ops.shape.MovementOperations;
import io.seriatim.graph.ops.shape.PadOperations;
import io.seriatim.graph.ops.shape.ShapeOperations;
import io.seriatim.graph.ops.shape.StridedOperations;
import io.seriatim.graph.ops.signal.FourierOperations;
import io.seriatim.graph.ops.signal.FrameOperations;
import io.seriatim.graph.ops.text.BeamOperations;
import io.seriatim.graph.ops.text.CtcOperations;
import io.seriatim.graph.ops.text.SequenceScoreOperations;
import io.seriatim.graph.ops.text.TaggingOperations;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * All families of operation types, one class each; found as a service. The file {@code operations.txt} says which types
 * each of them adds. It is written by {@code OperationIndexTest}.
 */
public final class BuiltInOperations implements Operations.BuiltIn {
    private static final String INDEX = "operations.txt";

    /** For the service loader. */
    public BuiltInOperations() {
        // A service has a constructor without arguments.
    }

    @Override
    public List<String> index() {
        try (InputStream in = BuiltInOperations.class.getResourceAsStream(INDEX)) {
            if (in == null) {
                throw new IllegalStateException("The file " + INDEX + " is missing: put all of seriatim-graph on the "
                        + "class or module path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException("The file " + INDEX + " of seriatim-graph cannot be read", e);
        }
    }

    @Override
    public void register(Operations registry) {
        index().stream().filter(line -> !line.startsWith(" ")).forEach(family -> register(family, registry));
    }

    /** A switch, since a list of method references would link each of them at the start. */
    @Override
    public void register(String family, Operations registry) {
        switch (family) {
            case "activation.ActivationOperations" -> ActivationOperations.register(registry);
            case "activation.ParametricActivationOperations" -> ParametricActivationOperations.register(registry);
            case "activation.ShrinkOperations" -> ShrinkOperations.register(registry);
            case "activation.SoftmaxOperations" -> SoftmaxOperations.register(registry);
            case "assignment.AnchorOperations" -> AnchorOperations.register(registry);
            case "assignment.DetectionMapOperations" -> DetectionMapOperations.register(registry);
            case "assignment.HardExampleOperations" -> HardExampleOperations.register(registry);
            case "assignment.MaskOperations" -> MaskOperations.register(registry);
            case "assignment.ProposalLabelOperations" -> ProposalLabelOperations.register(registry);
            case "complex.ComplexOperations" -> ComplexOperations.register(registry);
            case "control.CommunicationOperations" -> CommunicationOperations.register(registry);
            case "control.ControlOperations" -> ControlOperations.register(registry);
            case "control.DebuggingOperations" -> DebuggingOperations.register(registry);
            case "control.InputOutputOperations" -> InputOutputOperations.register(registry);
            case "control.TensorListOperations" -> TensorListOperations.register(registry);
            case "convolution.ConvolutionOperations" -> ConvolutionOperations.register(registry);
            case "convolution.TransposedConvolutionOperations" -> TransposedConvolutionOperations.register(registry);
            case "creation.DiagonalOperations" -> DiagonalOperations.register(registry);
            case "creation.FillDiagonalOperations" -> FillDiagonalOperations.register(registry);
            case "creation.FillOperations" -> FillOperations.register(registry);
            case "creation.RarerFillOperations" -> RarerFillOperations.register(registry);
            case "creation.SequenceOperations" -> SequenceOperations.register(registry);
            case "cumulative.CumulativeOperations" -> CumulativeOperations.register(registry);
            case "detection.BoxOperations" -> BoxOperations.register(registry);
            case "detection.MatchingOperations" -> MatchingOperations.register(registry);
            case "detection.PriorOperations" -> PriorOperations.register(registry);
            case "detection.ProposalOperations" -> ProposalOperations.register(registry);
            case "detection.SuppressionOperations" -> SuppressionOperations.register(registry);
            case "detection.YoloOperations" -> YoloOperations.register(registry);
            case "elementwise.BitwiseOperations" -> BitwiseOperations.register(registry);
            case "elementwise.ComparisonOperations" -> ComparisonOperations.register(registry);
            case "elementwise.ElementaryOperations" -> ElementaryOperations.register(registry);
            case "elementwise.ElementwiseOperations" -> ElementwiseOperations.register(registry);
            case "elementwise.PairOperations" -> PairOperations.register(registry);
            case "elementwise.PowerOperations" -> PowerOperations.register(registry);
            case "elementwise.ScaleOperations" -> ScaleOperations.register(registry);
            case "elementwise.SumOperations" -> SumOperations.register(registry);
            case "fused.FusedOperations" -> FusedOperations.register(registry);
            case "image.ChannelOperations" -> ChannelOperations.register(registry);
            case "image.GridOperations" -> GridOperations.register(registry);
            case "image.InterpolationOperations" -> InterpolationOperations.register(registry);
            case "image.PatchOperations" -> PatchOperations.register(registry);
            case "indexing.CropOperations" -> CropOperations.register(registry);
            case "indexing.EmbeddingOperations" -> EmbeddingOperations.register(registry);
            case "indexing.GatherOperations" -> GatherOperations.register(registry);
            case "indexing.IndexPutOperations" -> IndexPutOperations.register(registry);
            case "indexing.MessageOperations" -> MessageOperations.register(registry);
            case "indexing.PutAlongAxisOperations" -> PutAlongAxisOperations.register(registry);
            case "indexing.ScatterOperations" -> ScatterOperations.register(registry);
            case "indexing.SelectionOperations" -> SelectionOperations.register(registry);
            case "indexing.SetValueOperations" -> SetValueOperations.register(registry);
            case "indexing.SliceOperations" -> SliceOperations.register(registry);
            case "linalg.ChainProductOperations" -> ChainProductOperations.register(registry);
            case "linalg.DecompositionOperations" -> DecompositionOperations.register(registry);
            case "linalg.EigenOperations" -> EigenOperations.register(registry);
            case "linalg.EinsumOperations" -> EinsumOperations.register(registry);
            case "linalg.IntegerProductOperations" -> IntegerProductOperations.register(registry);
            case "linalg.InverseOperations" -> InverseOperations.register(registry);
            case "linalg.LeastSquaresOperations" -> LeastSquaresOperations.register(registry);
            case "linalg.LuOperations" -> LuOperations.register(registry);
            case "linalg.ProductOperations" -> ProductOperations.register(registry);
            case "linalg.SolverOperations" -> SolverOperations.register(registry);
            case "linalg.SpectrumOperations" -> SpectrumOperations.register(registry);
            case "linalg.TensorProductOperations" -> TensorProductOperations.register(registry);
            case "linalg.VectorOperations" -> VectorOperations.register(registry);
            case "loss.LossOperations" -> LossOperations.register(registry);
            case "loss.ProbabilityLossOperations" -> ProbabilityLossOperations.register(registry);
            case "loss.RarerLossOperations" -> RarerLossOperations.register(registry);
            case "metric.MetricOperations" -> MetricOperations.register(registry);
            case "metric.PrecisionOperations" -> PrecisionOperations.register(registry);
            case "normalisation.BatchNormOperations" -> BatchNormOperations.register(registry);
            case "normalisation.LocalResponseOperations" -> LocalResponseOperations.register(registry);
            case "normalisation.NormalisationOperations" -> NormalisationOperations.register(registry);
            case "normalisation.PlacesBatchNormOperations" -> PlacesBatchNormOperations.register(registry);
            case "normalisation.RootMeanSquareOperations" -> RootMeanSquareOperations.register(registry);
            case "normalisation.SpectralNormOperations" -> SpectralNormOperations.register(registry);
            case "normalisation.SyncBatchNormOperations" -> SyncBatchNormOperations.register(registry);
            case "optimizer.AdamOperations" -> AdamOperations.register(registry);
            case "optimizer.AverageOperations" -> AverageOperations.register(registry);
            case "optimizer.LossScalingOperations" -> LossScalingOperations.register(registry);
            case "optimizer.MergedOptimizerOperations" -> MergedOptimizerOperations.register(registry);
            case "optimizer.OptimizerOperations" -> OptimizerOperations.register(registry);
            case "optimizer.RarerOptimizerOperations" -> RarerOptimizerOperations.register(registry);
            case "ordering.MedianOperations" -> MedianOperations.register(registry);
            case "ordering.OrderOperations" -> OrderOperations.register(registry);
            case "ordering.UniqueOperations" -> UniqueOperations.register(registry);
            case "pooling.PoolPlaceOperations" -> PoolPlaceOperations.register(registry);
            case "pooling.PoolingOperations" -> PoolingOperations.register(registry);
            case "pooling.PyramidPoolingOperations" -> PyramidPoolingOperations.register(registry);
            case "pooling.UnpoolOperations" -> UnpoolOperations.register(registry);
            case "quantization.DequantizationOperations" -> DequantizationOperations.register(registry);
            case "quantization.FakeQuantizationOperations" -> FakeQuantizationOperations.register(registry);
            case "quantization.LinearQuantizationOperations" -> LinearQuantizationOperations.register(registry);
            case "quantization.QuantizedProductOperations" -> QuantizedProductOperations.register(registry);
            case "random.CategoryOperations" -> CategoryOperations.register(registry);
            case "random.DistributionOperations" -> DistributionOperations.register(registry);
            case "random.DropoutOperations" -> DropoutOperations.register(registry);
            case "random.InPlaceRandomOperations" -> InPlaceRandomOperations.register(registry);
            case "random.RandomOperations" -> RandomOperations.register(registry);
            case "random.RandomizedReluOperations" -> RandomizedReluOperations.register(registry);
            case "random.SamplingOperations" -> SamplingOperations.register(registry);
            case "recommendation.ClassCenterOperations" -> ClassCenterOperations.register(registry);
            case "recommendation.ClickOperations" -> ClickOperations.register(registry);
            case "recommendation.DataNormOperations" -> DataNormOperations.register(registry);
            case "recommendation.RankingOperations" -> RankingOperations.register(registry);
            case "recommendation.SampledLossOperations" -> SampledLossOperations.register(registry);
            case "recommendation.TreeLossOperations" -> TreeLossOperations.register(registry);
            case "recurrent.GruOperations" -> GruOperations.register(registry);
            case "recurrent.GruUnitOperations" -> GruUnitOperations.register(registry);
            case "recurrent.LstmOperations" -> LstmOperations.register(registry);
            case "recurrent.RecurrentOperations" -> RecurrentOperations.register(registry);
            case "reduction.CountOperations" -> CountOperations.register(registry);
            case "reduction.NormOperations" -> NormOperations.register(registry);
            case "reduction.ReductionOperations" -> ReductionOperations.register(registry);
            case "reduction.SegmentOperations" -> SegmentOperations.register(registry);
            case "region.DeformableConvolutionOperations" -> DeformableConvolutionOperations.register(registry);
            case "region.DeformablePoolingOperations" -> DeformablePoolingOperations.register(registry);
            case "region.RoiAlignOperations" -> RoiAlignOperations.register(registry);
            case "region.RoiPoolOperations" -> RoiPoolOperations.register(registry);
            case "sequence.ImageSequenceOperations" -> ImageSequenceOperations.register(registry);
            case "sequence.LodOperations" -> LodOperations.register(registry);
            case "sequence.RankTableOperations" -> RankTableOperations.register(registry);
            case "sequence.SequenceConvolutionOperations" -> SequenceConvolutionOperations.register(registry);
            case "sequence.SequenceElementOperations" -> SequenceElementOperations.register(registry);
            case "sequence.SequenceJoinOperations" -> SequenceJoinOperations.register(registry);
            case "sequence.SequencePoolOperations" -> SequencePoolOperations.register(registry);
            case "sequence.SequenceRowOperations" -> SequenceRowOperations.register(registry);
            case "sequence.SequenceSplitOperations" -> SequenceSplitOperations.register(registry);
            case "shape.CopyOperations" -> CopyOperations.register(registry);
            case "shape.ExpandOperations" -> ExpandOperations.register(registry);
            case "shape.FormerShapeOperations" -> FormerShapeOperations.register(registry);
            case "shape.ImagePadOperations" -> ImagePadOperations.register(registry);
            case "shape.JoinOperations" -> JoinOperations.register(registry);
            case "shape.MovementOperations" -> MovementOperations.register(registry);
            case "shape.PadOperations" -> PadOperations.register(registry);
            case "shape.ShapeOperations" -> ShapeOperations.register(registry);
            case "shape.StridedOperations" -> StridedOperations.register(registry);
            case "signal.FourierOperations" -> FourierOperations.register(registry);
            case "signal.FrameOperations" -> FrameOperations.register(registry);
            case "text.BeamOperations" -> BeamOperations.register(registry);
            case "text.CtcOperations" -> CtcOperations.register(registry);
            case "text.SequenceScoreOperations" -> SequenceScoreOperations.register(registry);
            case "text.TaggingOperations" -> TaggingOperations.register(registry);
            default -> throw new IllegalArgumentException("There is no family of operations '" + family
                    + "'; add it to BuiltInOperations");
        }
    }
}
