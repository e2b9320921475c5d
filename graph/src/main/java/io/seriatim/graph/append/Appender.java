package io.seriatim.graph.append;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Appends operations to a block as Paddle does: with all attributes, and with the inferred types of their outputs
 * written into the variables.
 */
public final class Appender {
    private Appender() {
    }

    /**
     * Adds the attributes that are not given, and those that every operation has.
     *
     * @param op
     *            any operation; unknown ones get only what every operation has
     * @param role
     *            the bits of {@link Roles}
     * @return the complete operation
     */
    public static OpDesc complete(OpDesc op, int role) {
        Operation schema = Operations.system().find(op.type());
        OpDesc complete = op.builtHere();
        if (schema != null) {
            for (AttributeSpec spec : schema.attributes()) {
                Attribute byDefault = spec.byDefault();
                if (byDefault != null && complete.attribute(spec.name()) == null) {
                    complete = complete.with(spec.name(), byDefault);
                }
            }
        }
        complete = given(complete, Roles.DEVICE, "");
        complete = given(complete, Roles.SCOPE, "/");
        complete = given(complete, Roles.VARIABLES, new String[0]);
        complete = given(complete, Roles.QUANTIZED, false);
        return complete.with(Roles.ATTRIBUTE, role);
    }

    private static OpDesc given(OpDesc op, String name, Object value) {
        return op.attribute(name) == null ? op.with(name, value) : op;
    }

    /**
     * Appends an operation to a block, and declares its outputs there.
     *
     * @param block
     *            the block, which is changed
     * @param op
     *            an operation that may lack attributes
     * @param role
     *            the bits of {@link Roles}
     * @return the complete operation that was added
     * @throws IllegalArgumentException
     *             if the inputs do not fit the operation
     */
    public static OpDesc append(Block block, OpDesc op, int role) {
        OpDesc complete = complete(op, role);
        declare(block, complete, infer(block, complete));
        block.add(complete);
        return complete;
    }

    /**
     * Infers the outputs of an operation from the variables of the block.
     *
     * @param block
     *            the block that has the operation
     * @param op
     *            a complete operation
     * @return the types of the outputs by slot, null where they are unknown; nothing for an unknown operation
     * @throws IllegalArgumentException
     *             if the inputs do not fit the operation
     */
    public static Map<String, List<@Nullable ArgType>> infer(Block block, OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema == null ? Map.of() : schema.infer(op, new BuildTime(block, op));
    }

    /**
     * Writes the inferred types into the variables, and declares variables that do not exist yet.
     *
     * @param block
     *            the block, which is changed
     * @param op
     *            the operation whose outputs they are
     * @param types
     *            the types by slot
     */
    public static void declare(Block block, OpDesc op, Map<String, List<@Nullable ArgType>> types) {
        op.outputs().forEach((slot, names) -> {
            List<@Nullable ArgType> inferred = types.getOrDefault(slot, List.of());
            for (int i = 0; i < names.size(); i++) {
                String name = names.get(i);
                if (!name.equals(GradientRule.EMPTY)) {
                    declare(block, name, i < inferred.size() ? inferred.get(i) : null);
                }
            }
        });
    }

    private static void declare(Block block, String name, @Nullable ArgType type) {
        Block owner = block.owner(name);
        if (owner == null) {
            block.put(VarDesc.of(name, type == null ? VarType.dense(DType.FLOAT32) : type.varType()));
        } else if (type != null) {
            VarDesc desc = owner.get(name);
            owner.put(desc.with(retyped(desc.type(), type)));
        }
    }

    private static VarType retyped(VarType old, ArgType type) {
        VarType.TensorType tensor = VarType.TensorType.of(type.dtype(), type.dims());
        return old.kind() == type.varType().kind() ? old.with(tensor) : type.varType();
    }

    /**
     * The types of an operation's inputs, as declared in a block.
     *
     * @param block
     *            the block that has the operation
     * @param op
     *            the operation
     */
    public record BuildTime(Block block, OpDesc op) implements Inference.Source {
        @Override
        public @Nullable ArgType type(String slot, int index) {
            VarDesc desc = find(op.input(slot).get(index));
            VarType.TensorType tensor = desc == null ? null : desc.type().tensorType();
            if (desc == null || tensor == null) {
                return null;
            }
            return switch (desc.type()) {
                case VarType.Rows _ -> ArgType.rows(tensor.dtype(), -1, tensor.shape());
                case VarType.TensorArray _ -> ArgType.array(tensor.dtype(), tensor.shape());
                default -> ArgType.dense(tensor.dtype(), tensor.shape());
            };
        }

        /** A block of gradients reads the variables of the block whose gradient it is. */
        private @Nullable VarDesc find(String name) {
            for (Block each = block;; each = each.program().block(each.parent())) {
                VarDesc desc = each.var(name);
                if (desc == null && each.forward() != Block.NONE) {
                    desc = each.program().block(each.forward()).find(name);
                }
                if (desc != null || each.parent() == Block.NONE) {
                    return desc;
                }
            }
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            return null;
        }

        @Override
        public boolean isForRun() {
            return false;
        }
    }
}
