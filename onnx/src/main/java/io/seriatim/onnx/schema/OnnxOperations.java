package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Operations;
import java.util.List;
import java.util.function.Consumer;

/** The operation types of this module, found as a service. Their effects are all declared. */
public final class OnnxOperations implements Operations.BuiltIn {
    private static final List<Consumer<Operations>> FAMILIES = List.of(//
            CreationSchemas::register, //
            CumulativeSchemas::register, //
            DetectionSchemas::register, //
            ElementwiseSchemas::register, //
            FoldSchemas::register, //
            GridSchemas::register, //
            PadSchemas::register, //
            PoolSchemas::register, //
            ReductionSchemas::register, //
            RegionSchemas::register, //
            ReshapeSchemas::register, //
            ResizeSchemas::register, //
            ScatterSchemas::register, //
            SelectionSchemas::register, //
            SignalSchemas::register, //
            SliceSchemas::register, //
            TermSchemas::register, //
            UniqueSchemas::register);

    /** For the service loader. */
    public OnnxOperations() {
        // A service has a constructor without arguments.
    }

    @Override
    public void register(Operations registry) {
        FAMILIES.forEach(family -> family.accept(registry));
    }
}
