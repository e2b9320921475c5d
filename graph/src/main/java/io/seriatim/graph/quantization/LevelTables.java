package io.seriatim.graph.quantization;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.LevelTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks up functions of 8-bit levels. Between DequantizeLinear and QuantizeLinear of ONNX, levels become numbers, pass
 * through functions and become levels again. If everything but the levels is a single number, the result is a function
 * of 256 levels: the same operations compute it for all of them, once if the single numbers are parameters, and
 * {@code lookup_levels} finds the values. Results are those of the operations for each element. Only functions that
 * take longer than arithmetic are worth a table: the error function of GELU, sigmoid, tanh and the like, with what
 * precedes and follows them.
 */
public final class LevelTables {
    private static final Set<String> ARITHMETIC = Set.of("cast", "elementwise_add", "elementwise_sub",
            "elementwise_mul", "elementwise_div", "elementwise_max", "elementwise_min", "onnx_round", "round", "clip",
            "scale", "relu", "relu6", "leaky_relu", "abs", "square", "sqrt", "floor", "ceil", "hard_sigmoid");
    private static final Set<String> FUNCTIONS = Set.of("erf", "sigmoid", "tanh", "exp", "expm1", "gelu", "silu",
            "swish", "hard_swish", "mish", "softplus", "softsign", "elu", "celu", "selu", "log", "logsigmoid", "sin",
            "cos", "atan", "tanh_shrink", "elementwise_pow");

    private final Block block;
    private final Map<String, OpDesc> writers = new HashMap<>();
    private final Set<String> writtenOften = new HashSet<>();
    private final Map<String, Origin> origins = new HashMap<>();
    private final Map<String, Boolean> single = new HashMap<>();
    /** The names of variables in the computation of tables, by those of the levels and of the variable. */
    private final Map<List<String>, String> tables = new HashMap<>();
    private final List<OpDesc> ops = new ArrayList<>();

    /** The levels of which a variable is a function, and whether the function is worth a table. */
    private record Origin(String levels, boolean isWorthIt) {
    }

    private LevelTables(Block block) {
        this.block = block;
        Set<String> read = new HashSet<>();
        for (OpDesc op : block.ops()) {
            read.addAll(op.inputNames());
            for (String name : FakeQuantization.written(op)) {
                if (writers.put(name, op) != null || read.contains(name)) {
                    writtenOften.add(name);
                }
            }
        }
    }

    /**
     * Replaces what can be replaced in the global block.
     *
     * @param program
     *            is not changed
     * @return the program itself if nothing is replaced, otherwise a changed copy
     */
    public static Program of(Program program) {
        List<OpDesc> ops = program.global().ops();
        if (ops.stream().noneMatch(op -> FUNCTIONS.contains(op.type()))
                || ops.stream().noneMatch(op -> op.type().equals("cast"))) {
            return program;
        }
        Program copy = program.copy();
        return new LevelTables(copy.global()).replace() ? copy : program;
    }

    private boolean replace() {
        boolean any = false;
        for (OpDesc op : block.ops()) {
            Origin origin = origin(op);
            if (origin == null) {
                ops.add(op);
                continue;
            }
            String result = op.output("Out").getFirst();
            origins.put(result, origin);
            if (!origin.isWorthIt() || !isLevels(result)) {
                ops.add(op);
                continue;
            }
            String table = table(origin.levels(), result);
            ops.add(OpDesc.of("lookup_levels").in("X", origin.levels()).in("Table", table).out("Out", result).build()
                    .builtWith(op));
            any = true;
        }
        if (any) {
            block.setOps(ops);
        }
        return any;
    }

    /** Returns the levels of which the only result of an operation is a function; null if it is none. */
    private @Nullable Origin origin(OpDesc op) {
        boolean function = FUNCTIONS.contains(op.type());
        if ((!function && !ARITHMETIC.contains(op.type())) || op.outputNames().size() != 1
                || op.output("Out").size() != 1 || writtenOften.contains(op.output("Out").getFirst())
                || !hasPlainAxis(op)) {
            return null;
        }
        String levels = null;
        boolean isWorthIt = function;
        for (String input : op.inputNames()) {
            if (isSingle(input)) {
                continue;
            }
            Origin origin = origins.get(input);
            if (origin == null && isLevels(input) && !writtenOften.contains(input) && !isStored(input)) {
                origin = new Origin(input, false);
            }
            if (origin == null || (levels != null && !levels.equals(origin.levels()))
                    || !dims(input).equals(dims(origin.levels()))) {
                return null;
            }
            levels = origin.levels();
            isWorthIt |= origin.isWorthIt();
        }
        String result = op.output("Out").getFirst();
        return levels == null || !dims(result).equals(dims(levels)) ? null : new Origin(levels, isWorthIt);
    }

    /** Returns the variable that holds the values for all levels, after adding the operations that compute it. */
    private String table(String levels, String result) {
        List<String> key = List.of(levels, result);
        String known = tables.get(key);
        if (known != null) {
            return known;
        }
        String made = variable(result, dtype(result));
        if (result.equals(levels)) {
            float[] all = new float[LevelTable.LEVELS];
            for (int i = 0; i < all.length; i++) {
                all[i] = i + (dtype(levels) == DType.INT8 ? Byte.MIN_VALUE : 0);
            }
            String numbers = variable(result, DType.FLOAT32);
            add(OpDesc.of("assign_value").out("Out", numbers).attr("shape", new int[]{all.length})
                    .attr("dtype", DataTypes.number(DType.FLOAT32)).attr("fp32_values", all));
            add(OpDesc.of("cast").in("X", numbers).out("Out", made).attr("in_dtype", DataTypes.number(DType.FLOAT32))
                    .attr("out_dtype", DataTypes.number(dtype(levels))));
        } else {
            OpDesc op = Objects.requireNonNull(writers.get(result));
            Map<String, String> renamed = new HashMap<>();
            for (String input : op.inputNames()) {
                renamed.put(input, isSingle(input) ? input : table(levels, input));
            }
            ops.add(op.renamed(name -> renamed.getOrDefault(name, name), name -> name.equals(result) ? made : name));
        }
        tables.put(key, made);
        return made;
    }

    private void add(OpDesc.Builder op) {
        ops.add(op.build());
    }

    private String variable(String like, DType dtype) {
        String name = Names.free(block, like + "@TABLE");
        block.put(VarDesc.of(name, VarType.dense(dtype, LevelTable.LEVELS)));
        return name;
    }

    /** Whether a variable holds a number that depends on parameters and constants only. */
    private boolean isSingle(String name) {
        VarDesc desc = block.find(name);
        if (desc == null || writtenOften.contains(name) || !(desc.type() instanceof VarType.Dense)
                || dims(name).size() > 1 || dims(name).stream().anyMatch(dim -> dim != 1)) {
            return false;
        }
        OpDesc op = writers.get(name);
        if (op == null) {
            return desc.isPersistable();
        }
        Boolean known = single.get(name);
        if (known == null) {
            known = (ARITHMETIC.contains(op.type()) || Set.of("fill_constant", "assign_value").contains(op.type()))
                    && op.inputNames().stream().allMatch(this::isSingle);
            single.put(name, known);
        }
        return known;
    }

    private static boolean hasPlainAxis(OpDesc op) {
        return !(op.attribute("axis") instanceof Attribute.Int(int axis)) || axis == -1;
    }

    private boolean isStored(String name) {
        return block.get(name).isPersistable();
    }

    private boolean isLevels(String name) {
        VarDesc desc = block.find(name);
        return desc != null && desc.type() instanceof VarType.Dense(var tensor, var _)
                && (tensor.dtype() == DType.INT8 || tensor.dtype() == DType.UINT8);
    }

    private DType dtype(String name) {
        return block.get(name).tensor().dtype();
    }

    private List<Long> dims(String name) {
        return block.get(name).tensor().dims();
    }
}
