package io.seriatim.executor;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Random programs whose variables share memory, and a reference model of that memory: a variable is a range of a Java
 * array, and a write changes the range. There is a startup program and two main programs, which run alternately and
 * access the memory under any of its names.
 */
final class AliasPrograms {
    private static final int[] SIZES = {2, 2, 3, 3};

    private final Random random;
    private final Map<String, Integer> sizes = new TreeMap<>();
    final Program startup = new Program();
    final List<Program> mains = new ArrayList<>();
    private final Map<Program, List<Step>> steps = new HashMap<>();
    final Memory memory = new Memory();
    /** The accesses of each operation of the program that was run last. */
    private final List<List<Touch>> touches = new ArrayList<>();
    private final Set<float[]> shared = Collections.newSetFromMap(new IdentityHashMap<>());

    /** An operation, and its effect on the model. */
    private record Step(OpDesc op, List<String> made, Consumer<Memory> effect) {
    }

    /** A range of an array. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Part(float[] array, int from, int size) {
        float[] read() {
            return Arrays.copyOfRange(array, from, from + size);
        }
    }

    /** A read or write of a range of an array by an operation. */
    private record Touch(Part part, boolean writes) {
        @SuppressWarnings("ReferenceEquality") // Two parts overlap only if they are ranges of the same array.
        boolean conflicts(Touch other) {
            return (writes || other.writes) && part.array == other.part.array
                    && part.from < other.part.from + other.part.size
                    && other.part.from < part.from + part.size;
        }
    }

    /** Maps variables to ranges of arrays. */
    static final class Memory {
        private final Map<String, Part> parts = new HashMap<>();

        float[] read(String name) {
            return Objects.requireNonNull(parts.get(name), name).read();
        }

        boolean has(String name) {
            return parts.containsKey(name);
        }

        void write(String name, float[] values) {
            Part part = parts.get(name);
            if (part == null) {
                parts.put(name, new Part(values.clone(), 0, values.length));
            } else {
                System.arraycopy(values, 0, part.array, part.from, values.length);
            }
        }

        void alias(String name, float[] array, int from, int size) {
            parts.put(name, new Part(array, from, size));
        }

        private Part part(String name) {
            return Objects.requireNonNull(parts.get(name), name);
        }
    }

    AliasPrograms(long seed) {
        random = new Random(seed);
        for (int i = 0; i < SIZES.length; i++) {
            sizes.put("p" + i, SIZES[i]);
            sizes.put("t" + i, SIZES[i]);
        }
        sizes.put("q", 2);
        sizes.put("f", 10);
        List<Step> begin = new ArrayList<>();
        for (String name : List.of("p0", "p1", "p2", "p3", "q", "f")) {
            begin.add(fill(name));
        }
        begin.add(coalesce("f", "p0", "p1", "p2", "p3"));
        if (random.nextBoolean()) {
            begin.add(share(random.nextBoolean() ? "p0" : "p1", "q"));
        }
        complete(startup, begin);
        for (int i = 0; i < 2; i++) {
            Program main = new Program();
            complete(main, main(main));
            mains.add(main);
        }
    }

    private static boolean outlives(String name) {
        return !name.startsWith("t") && !name.startsWith("g");
    }

    private void declare(Program program) {
        Block global = program.global();
        sizes.forEach((name, size) -> {
            VarDesc desc = VarDesc.of(name, VarType.dense(FLOAT32, size));
            global.put(outlives(name) ? desc.persistent() : desc);
        });
        global.put(new VarDesc("yes", VarType.dense(BOOL, 1), null, true, null, true));
        global.put(new VarDesc("rate", VarType.dense(FLOAT32, 1), null, true, null, true));
        global.put(new VarDesc("scopes", new VarType.Other(VarType.STEP_SCOPES), null, null, null, null));
    }

    private void complete(Program program, List<Step> all) {
        declare(program);
        all.forEach(step -> program.global().add(step.op));
        steps.put(program, all);
    }

    private List<Step> main(Program program) {
        List<Step> all = new ArrayList<>();
        Set<String> alive = new LinkedHashSet<>(List.of("p0", "p1", "p2", "p3", "q", "f"));
        int count = 6 + random.nextInt(14);
        while (all.size() < count) {
            Step step = next(program, alive);
            all.add(step);
            alive.addAll(step.op.outputNames());
            alive.remove("scopes");
        }
        return all;
    }

    private String any(Set<String> alive, int size) {
        List<String> fitting = alive.stream().filter(name -> Objects.requireNonNull(sizes.get(name)) == size).toList();
        return fitting.get(random.nextInt(fitting.size()));
    }

    private String target(int size) {
        List<String> fitting = sizes.keySet().stream().filter(name -> Objects.requireNonNull(sizes.get(name)) == size)
                .toList();
        return fitting.get(random.nextInt(fitting.size()));
    }

    private Step next(Program program, Set<String> alive) {
        int size = new int[]{2, 3, 10, 2, 3}[random.nextInt(5)];
        String to = target(size);
        String a = any(alive, size);
        String b = any(alive, size);
        return switch (random.nextInt(12)) {
            case 0 -> fill(to);
            case 1, 2 -> scale(a, to);
            case 3, 4 -> add(a, b, to);
            case 5 -> scale(a, a);
            case 6 ->
                new Step(OpDesc.of("assign").in("X", a).out("Out", to).build(), List.of(),
                        memory -> memory.write(to, memory.read(a)));
            case 7 -> update(a, b);
            case 8 -> {
                String temporary = "t" + random.nextInt(4);
                int wanted = Objects.requireNonNull(sizes.get(temporary));
                yield share(any(alive, wanted), temporary);
            }
            case 9 -> {
                List<String> parts = new ArrayList<>(alive.stream().filter(name -> name.startsWith("t")).toList());
                Collections.shuffle(parts, random);
                int total = parts.stream().mapToInt(name -> Objects.requireNonNull(sizes.get(name))).sum();
                if (parts.isEmpty()) {
                    yield fill(to);
                }
                sizes.put("g" + total, total);
                yield coalesce("g" + total, parts.toArray(String[]::new));
            }
            case 10 -> branch(program, a, b, any(alive, size));
            default -> {
                String from = "f";
                int first = random.nextInt(7);
                String small = target(3);
                yield new Step(OpDesc.of("slice").in("Input", from).out("Out", small).attr("axes", new int[]{0})
                        .attr("starts", new int[]{first}).attr("ends", new int[]{first + 3}).build(), List.of(),
                        memory -> memory.write(small, Arrays.copyOfRange(memory.read(from), first, first + 3)));
            }
        };
    }

    private Step fill(String to) {
        float value = random.nextInt(100);
        int size = Objects.requireNonNull(sizes.get(to));
        return new Step(OpDesc.of("fill_constant").out("Out", to).attr("dtype", 5).attr("shape", new long[]{size})
                .attr("value", value)
                .build(), List.of(), memory -> {
                    float[] values = new float[size];
                    Arrays.fill(values, value);
                    memory.write(to, values);
                });
    }

    private Step scale(String from, String to) {
        float by = random.nextInt(5) - 2;
        float bias = random.nextInt(10);
        return new Step(OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", by).attr("bias", bias).build(),
                List.of(),
                memory -> memory.write(to, map(memory.read(from), memory.read(from), (x, _) -> x * by + bias)));
    }

    private interface Function {
        float of(float a, float b);
    }

    private static float[] map(float[] a, float[] b, Function function) {
        float[] values = new float[a.length];
        for (int i = 0; i < a.length; i++) {
            values[i] = function.of(a[i], b[i]);
        }
        return values;
    }

    private static Step add(String a, String b, String to) {
        return new Step(OpDesc.of("elementwise_add").in("X", a).in("Y", b).out("Out", to).attr("axis", -1).build(),
                List.of(),
                memory -> memory.write(to, map(memory.read(a), memory.read(b), Float::sum)));
    }

    private static Step update(String parameter, String gradient) {
        return new Step(
                OpDesc.of("sgd").in("Param", parameter).in("Grad", gradient).in("LearningRate", "rate")
                        .out("ParamOut", parameter)
                        .build(),
                List.of(),
                memory -> memory.write(parameter,
                        map(memory.read(parameter), memory.read(gradient), (p, g) -> p - 0.5f * g)));
    }

    private static Step share(String from, String to) {
        if (from.equals(to)) {
            return scaleByOne(to);
        }
        return new Step(OpDesc.of("share_data").in("X", from).out("Out", to).build(), List.of(to), memory -> {
            Part part = memory.part(from);
            memory.alias(to, part.array, part.from, part.size);
        });
    }

    private static Step scaleByOne(String to) {
        return new Step(OpDesc.of("scale").in("X", to).out("Out", to).attr("scale", 1f).attr("bias", 0f).build(),
                List.of(), _ -> {
                });
    }

    private Step coalesce(String whole, String... parts) {
        List<String> made = new ArrayList<>(List.of(parts));
        made.add(whole);
        return new Step(OpDesc.of("coalesce_tensor").in("Input", parts).out("Output", parts).out("FusedOutput", whole)
                .attr("dtype", 5)
                .attr("copy_data", true).attr("use_align", false).build(), made, memory -> {
                    float[] all = new float[Objects.requireNonNull(sizes.get(whole))];
                    int from = 0;
                    for (String part : parts) {
                        float[] values = memory.read(part);
                        System.arraycopy(values, 0, all, from, values.length);
                        from += values.length;
                    }
                    from = 0;
                    for (String part : parts) {
                        int size = Objects.requireNonNull(sizes.get(part));
                        memory.alias(part, all, from, size);
                        from += size;
                    }
                    memory.alias(whole, all, 0, all.length);
                });
    }

    /** A branch whose block writes a variable of the enclosing block, and reads another one before and after. */
    private static Step branch(Program program, String a, String b, String to) {
        Block block = program.addBlock(0, null);
        String inner = "inner" + block.index();
        block.put(VarDesc.of(inner, VarType.dense(FLOAT32, -1)));
        block.add(OpDesc.of("elementwise_add").in("X", a).in("Y", b).out("Out", inner).attr("axis", -1).build());
        block.add(OpDesc.of("assign").in("X", inner).out("Out", to).build());
        block.add(OpDesc.of("elementwise_add").in("X", a).in("Y", inner).out("Out", to).attr("axis", -1).build());
        OpDesc op = OpDesc.of("conditional_block").in("Cond", "yes").in("Input", a)
                .out("Out", to).out("Scope", "scopes").attr("sub_block", new Attribute.BlockRef(block.index()))
                .attr("is_scalar_condition", true).build();
        return new Step(op, List.of(), memory -> {
            float[] sum = map(memory.read(a), memory.read(b), Float::sum);
            memory.write(to, sum);
            memory.write(to, map(memory.read(a), sum, Float::sum));
        });
    }

    /** Returns the fetches of a run: all variables that exist after it. */
    List<String> fetches(Program program) {
        Set<String> names = new LinkedHashSet<>();
        Objects.requireNonNull(steps.get(program)).forEach(step -> names.addAll(step.op.outputNames()));
        names.remove("scopes");
        return List.copyOf(names);
    }

    /**
     * Runs a program on the model. A variable that the program writes before it makes it share memory starts with
     * separate memory.
     */
    Map<String, float[]> run(Program program) {
        List<Step> all = Objects.requireNonNull(steps.get(program));
        memory.parts.keySet().removeIf(name -> !outlives(name));
        Set<String> made = new HashSet<>();
        all.forEach(step -> made.addAll(step.made));
        Set<String> met = new HashSet<>();
        for (Step step : all) {
            boolean runsBlock = step.op.type().equals("conditional_block");
            met.addAll(step.op.inputNames());
            if (runsBlock) {
                met.addAll(program
                        .block(((Attribute.BlockRef) Objects.requireNonNull(step.op.attribute("sub_block"))).index())
                        .ops()
                        .stream()
                        .flatMap(op -> Stream.concat(op.inputNames().stream(),
                                op.outputNames().stream()))
                        .toList());
            }
            for (String name : step.op.outputNames()) {
                if (met.add(name) && made.contains(name) && memory.has(name)) {
                    float[] own = memory.read(name);
                    memory.alias(name, own, 0, own.length);
                }
            }
        }
        touches.clear();
        all.forEach(step -> touches.add(carryOut(program, step)));
        Map<String, float[]> fetched = new TreeMap<>();
        fetches(program).forEach(name -> fetched.put(name, memory.read(name)));
        return fetched;
    }

    private List<Touch> carryOut(Program program, Step step) {
        List<Touch> touched = new ArrayList<>();
        Set<String> read = new HashSet<>(step.op.inputNames());
        if (step.op.attribute("sub_block") instanceof Attribute.BlockRef(int index)) {
            program.block(index).ops().forEach(op -> read.addAll(op.inputNames()));
        }
        read.stream().filter(memory::has)
                .forEach(name -> touched.add(new Touch(readOf(step.op, memory.part(name)), false)));
        step.op.outputNames().stream().filter(name -> memory.has(name) && !step.made.contains(name))
                .forEach(name -> touched.add(new Touch(memory.part(name), true)));
        Set<float[]> before = Collections.newSetFromMap(new IdentityHashMap<>());
        memory.parts.values().forEach(part -> before.add(part.array));
        step.effect.accept(memory);
        step.op.outputNames().stream().filter(memory::has).map(memory::part)
                .filter(part -> !before.contains(part.array))
                .forEach(part -> touched.add(new Touch(part, true)));
        Set<float[]> once = Collections.newSetFromMap(new IdentityHashMap<>());
        memory.parts.values().stream().filter(part -> !once.add(part.array)).forEach(part -> shared.add(part.array));
        return touched;
    }

    /** Returns the range that an operation reads: a slice reads only the elements of its result. */
    private static Part readOf(OpDesc op, Part part) {
        return op.attribute("starts") instanceof Attribute.Ints(List<Integer> starts)
                ? new Part(part.array, part.from + starts.getFirst(), 3)
                : part;
    }

    /**
     * Returns whether two operations of the program that was run last access the same bytes of shared memory, and at
     * least one of them writes.
     */
    boolean conflict(int first, int second) {
        return touches.get(first).stream().filter(touch -> shared.contains(touch.part.array))
                .anyMatch(touch -> touches.get(second).stream().anyMatch(touch::conflicts));
    }

    int operations() {
        return touches.size();
    }

    static Map<String, Tensor> fed() {
        return Map.of("yes", Tensor.of(BOOL, new long[]{1}, 1), "rate", Bits.floats(0.5f));
    }
}
