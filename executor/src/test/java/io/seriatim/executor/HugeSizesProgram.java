package io.seriatim.executor;

import static io.seriatim.executor.Executor.fetches;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Runs operations whose sizes do not fit into the memory of this JVM, and then one that does. */
final class HugeSizesProgram {
    private static final int HUGE = Integer.MAX_VALUE - 8;

    private HugeSizesProgram() {
    }

    public static void main(String[] args) {
        if (args[0].equals("load")) {
            load(Path.of(args[1]));
            report(() -> ProgramFiles.read(Path.of(args[1])));
        } else if (args[0].equals("interpret")) {
            OpDesc unique = OpDesc.of("unique").in("X", "x").out("Out", "y").out("Index", "index").attr("dtype", 3)
                    .attr("is_sorted", true).build();
            report(() -> Interpreter.of(Kernels.system()).run(program(unique),
                    Map.of("x", Tensor.allocate(DType.FLOAT32, 20_000_000)), List.of("y")));
        } else if (args[0].equals("views")) {
            views();
        } else {
            run(args[0].equals("heap"));
        }
    }

    private static void report(Callable<?> action) {
        try {
            throw new AssertionError(action.call() + " was there");
        } catch (Exception e) {
            System.out.println(String.valueOf(e.getCause()) + ": " + e.getMessage());
        }
    }

    /** Reads a model whose description does not fit into the heap. */
    private static void load(Path file) {
        try {
            InferenceModels.load(file).close();
            throw new AssertionError("the file was read");
        } catch (IOException | IllegalStateException e) {
            System.out.println(String.valueOf(e.getCause()) + ": " + e.getMessage());
        }
    }

    /** Expands a value of which only the shape, or nothing, is read, so that it takes no memory. */
    private static void views() {
        try (Executor executor = Executor.builder().eager().build(); Tensor x = Tensor.of(new float[]{3}, 1)) {
            OpDesc expand =
                    OpDesc.of("expand_v2").in("X", "x").out("Out", "v").attr("shape", new int[]{1 << 16, 1 << 17})
                            .build();
            OpDesc turned = OpDesc.of("transpose2").in("X", "v").out("Out", "w").attr("axis", new int[]{1, 0}).build();
            for (OpDesc reader : List.of(OpDesc.of("shape").in("Input", "w").out("Out", "y").build(),
                    OpDesc.of("relu").in("X", "x").out("Out", "y").build())) {
                Program program = program(expand);
                Appender.append(program.global(), turned, 0);
                Appender.append(program.global(), reader, 0);
                System.out.println(reader.type() + " "
                        + Arrays.toString(executor.run(program, Map.of("x", x), fetches("y")).get("y")
                                .toDoubleArray()));
            }
        }
    }

    static List<OpDesc> operations() {
        return List.of(OpDesc.of("one_hot_v2").in("X", "i").out("Out", "y").attr("depth", HUGE).build(),
                OpDesc.of("pad").in("X", "x").out("Out", "y").attr("paddings", new int[]{0, HUGE - 8}).build(),
                OpDesc.of("fill_constant").out("Out", "y").attr("shape", new long[]{1L << 31}).attr("dtype", 5).build(),
                OpDesc.of("gaussian_random").out("Out", "y").attr("shape", new long[]{HUGE}).attr("dtype", 5).build(),
                OpDesc.of("tile").in("X", "x").out("Out", "y").attr("repeat_times", new int[]{HUGE}).build(),
                OpDesc.of("bilinear_interp_v2").in("X", "image").out("Out", "y").attr("out_h", 1).attr("out_w", HUGE)
                        .build(),
                OpDesc.of("bicubic_interp_v2").in("X", "image").out("Out", "y").attr("out_h", 1).attr("out_w", HUGE)
                        .build(),
                OpDesc.of("nearest_interp_v2").in("X", "image").out("Out", "y").attr("out_h", 1).attr("out_w", HUGE)
                        .build(),
                OpDesc.of("repeat_interleave").in("X", "x").out("Out", "y").attr("Repeats", HUGE).attr("dim", 0)
                        .build(),
                OpDesc.of("eye").out("Out", "y").attr("num_rows", 1L << 16).attr("num_columns", 1L << 14)
                        .attr("dtype", 5).build());
    }

    private static void run(boolean heap) {
        List<OpDesc> ops = heap
                ? List.of(OpDesc.of("unique").in("X", "x").out("Out", "y").out("Index", "index").attr("dtype", 3)
                        .attr("is_sorted", true).build())
                : operations();
        try (Executor executor = Executor.builder().build()) {
            for (OpDesc op : ops) {
                Program program = program(op);
                long length = heap ? 20_000_000 : 1;
                try (Tensor x = Tensor.allocate(DType.FLOAT32, length); Tensor i = Tensor.of(new long[]{0}, 1)) {
                    executor.run(program, Map.of("x", x, "i", i), fetches("y"));
                    throw new AssertionError(op + " was run");
                } catch (ProgramFailedException e) {
                    System.out.println(op.type() + ": " + e.getCause() + ": " + e.getMessage());
                }
            }
            Program small = program(OpDesc.of("relu").in("X", "x").out("Out", "y").build());
            System.out.println("then " + executor.run(small, Map.of("x", Tensor.of(new float[]{2}, 1)), fetches("y"))
                    .scalar("y"));
        }
    }

    static Program program(OpDesc op) {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1)));
        program.global().put(VarDesc.of("i", VarType.dense(DType.INT64, 1)));
        if (op.inputNames().contains("image")) {
            Appender.append(program.global(), OpDesc.of("reshape2").in("X", "x").out("Out", "image")
                    .attr("shape", new int[]{1, 1, 1, 1}).build(), 0);
        }
        Appender.append(program.global(), op, 0);
        return program;
    }
}
