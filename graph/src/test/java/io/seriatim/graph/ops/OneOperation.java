package io.seriatim.graph.ops;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.kernel.Computation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One operation whose variables are named as their slots, to be inferred and lowered without running it. */
public final class OneOperation {
    private final OpDesc.Builder op;
    private final Operation schema;
    private final Map<String, ArgType> inputs = new HashMap<>();
    private final Map<String, long[]> values = new HashMap<>();

    public OneOperation(String type) {
        op = OpDesc.of(type);
        schema = Operations.system().get(type);
    }

    public OneOperation in(String slot, DType dtype, long... dims) {
        return in(slot, ArgType.dense(dtype, dims));
    }

    public OneOperation in(String slot, ArgType type) {
        inputs.put(slot, type);
        op.in(slot, slot);
        return this;
    }

    public OneOperation valued(String slot, DType dtype, long... contents) {
        values.put(slot, contents.clone());
        return in(slot, dtype, contents.length);
    }

    public OneOperation out(String... slots) {
        for (String slot : slots) {
            op.out(slot, slot);
        }
        return this;
    }

    public OneOperation attr(String name, Object value) {
        op.attr(name, value);
        return this;
    }

    private Inference.Source source() {
        return new Inference.Source() {
            @Override
            public @Nullable ArgType type(String slot, int index) {
                return inputs.get(slot);
            }

            @Override
            public long @Nullable [] values(String slot, int index) {
                return values.get(slot);
            }
        };
    }

    public ArgType inferred(String slot) {
        return Objects.requireNonNull(
                Objects.requireNonNull(schema.infer(op.build(), source()).get(slot), slot).getFirst(), slot);
    }

    public List<Computation> computations() {
        OpDesc built = op.build();
        Lowered lowered = schema.lower(new Lowering(built, schema, source(), schema.infer(built, source()), null));
        return lowered.steps().stream().map(step -> ((Step.Work.Compute) step.work()).computation()).toList();
    }

    /** The message says all of the parts, and the operation's name. */
    public void isRefused(String... parts) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> schema.infer(op.build(), source()));
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains(schema.type()), message);
        for (String part : parts) {
            assertTrue(message.contains(part), "'" + part + "' is missing in: " + message);
        }
    }
}
