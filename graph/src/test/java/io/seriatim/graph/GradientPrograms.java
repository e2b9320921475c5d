package io.seriatim.graph;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The cases of golden/backward.txt, backward-own.txt and precision.txt: a program, calls with their answers, and the
 * lines that the program then has and had not before.
 */
public record GradientPrograms(String name, int earlier, List<String> before, List<Call> calls, List<String> then) {
    private static final Pattern VARIABLE = Pattern.compile("var (\\S+) (\\d+|\\w+)(?:\\[(.*?)])?(.*)");
    private static final Pattern OPERATION = Pattern
            .compile("op (\\S+?)\\((.*?)\\) -> (.*?) ?\\{(.*?)} role (\\d+)(?: of (\\S+))?");
    private static final Set<String> SHOWN = new TreeSet<>(Set.of("value", "dtype", "axis", "num", "sections", "scale",
            "sub_block",
            "is_scalar_condition", "trans_x", "trans_y", "dim", "reduce_all", "keep_dim", "original_output_grad",
            "in_dtype", "out_dtype",
            "step", "shape", "soft_label", "ksize", "strides", "paddings", "pooling_type", "start_axis", "stop_axis"));

    /** A call of append_backward or gradients, and what it gives. */
    public record Call(String function, Map<String, String> arguments, List<String> answers) {
        public List<String> names(String argument) {
            String text = arguments.getOrDefault(argument, "");
            return text.isEmpty() ? List.of() : List.of(text.split(",", -1));
        }
    }

    public static List<GradientPrograms> of(String file) {
        List<GradientPrograms> all = new ArrayList<>();
        for (String text : text(file).split("\n\n", -1)) {
            if (!text.isBlank()) {
                all.add(parse(text.strip().lines().filter(line -> !line.startsWith("#")).toList()));
            }
        }
        return all;
    }

    private static String text(String file) {
        try (InputStream in = GradientPrograms.class.getResourceAsStream("/golden/" + file)) {
            if (in == null) {
                throw new IllegalStateException("golden/" + file + " is not on the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static GradientPrograms parse(List<String> lines) {
        String[] title = lines.getFirst().split(" ", -1);
        List<String> before = new ArrayList<>();
        List<Call> calls = new ArrayList<>();
        int i = 1;
        for (; !lines.get(i).equals("then"); i++) {
            String[] words = lines.get(i).split(" ", -1);
            if (words[0].equals("call")) {
                Map<String, String> arguments = Arrays.stream(words).skip(2).map(word -> word.split("=", -1))
                        .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
                calls.add(new Call(words[1], arguments, new ArrayList<>()));
            } else if (words[0].equals("answer")) {
                calls.getLast().answers().add(lines.get(i).substring("answer ".length()));
            } else {
                before.add(lines.get(i));
            }
        }
        return new GradientPrograms(title[1], Integer.parseInt(title[3]), before, calls,
                lines.subList(i + 1, lines.size()));
    }

    /** The program before the calls. */
    public Program program() {
        Program program = Program.empty(null, null);
        // A block is named before it is described.
        for (String line : before) {
            if (line.startsWith("block ")) {
                String[] words = line.split(" ", -1);
                int forward = Integer.parseInt(words[5]);
                program.addBlock(Integer.parseInt(words[3]), forward < 0 ? null : forward);
            }
        }
        Block block = program.global();
        for (String line : before) {
            if (line.startsWith("block ")) {
                block = program.block(Integer.parseInt(line.split(" ", -1)[1]));
            } else if (line.startsWith("  var ")) {
                block.put(variable(line.strip()));
            } else {
                block.add(operation(program, line.strip()));
            }
        }
        for (int i = 0; i < earlier; i++) {
            program.nextGradientCall();
        }
        return program;
    }

    private static VarDesc variable(String line) {
        Matcher match = VARIABLE.matcher(line);
        if (!match.matches()) {
            throw new IllegalStateException(line);
        }
        String flags = match.group(4);
        if (match.group(3) == null) {
            return new VarDesc(match.group(1), new VarType.Other(VarType.STEP_SCOPES), null, null, null,
                    flags.contains("stop"));
        }
        List<Long> dims = match.group(3).isEmpty()
                ? List.of()
                : Arrays.stream(match.group(3).split(",", -1)).map(Long::valueOf).toList();
        VarType type = new VarType.Dense(new VarType.TensorType(Integer.parseInt(match.group(2)), dims), null);
        return new VarDesc(match.group(1), type, flags.contains("persistable"), null, flags.contains("parameter"),
                flags.contains("stop"));
    }

    private static OpDesc operation(Program program, String line) {
        Matcher match = OPERATION.matcher(line);
        if (!match.matches()) {
            throw new IllegalStateException(line);
        }
        OpDesc.Builder op = OpDesc.of(match.group(1));
        slots(match.group(2)).forEach(op::in);
        slots(match.group(3)).forEach(op::out);
        for (String word : match.group(4).isEmpty() ? new String[0] : match.group(4).split(" ", -1)) {
            String[] pair = word.split("=", -1);
            op.attr(pair[0], value(program, pair[0], pair[1]));
        }
        if (match.group(6) != null) {
            op.attr(Roles.VARIABLES, match.group(6).split(",", -1));
        }
        return Appender.complete(op.build(), Integer.parseInt(match.group(5)));
    }

    private static Map<String, List<String>> slots(String text) {
        Map<String, List<String>> slots = new TreeMap<>();
        for (String slot : text.isEmpty() ? new String[0] : text.split(" ", -1)) {
            String[] pair = slot.split("=", -1);
            slots.put(pair[0], List.of(pair[1].split(",", -1)));
        }
        return slots;
    }

    private static Object value(Program program, String name, String text) {
        if (name.equals("sub_block")) {
            return program.block(Integer.parseInt(text));
        }
        if (text.equals("true") || text.equals("false")) {
            return Boolean.valueOf(text);
        }
        if (text.startsWith("[")) {
            String inner = text.substring(1, text.length() - 1);
            long[] numbers = inner.isEmpty()
                    ? new long[0]
                    : Arrays.stream(inner.split(",", -1)).mapToLong(Long::parseLong).toArray();
            return name.equals("shape") ? numbers : Arrays.stream(numbers).mapToInt(Math::toIntExact).toArray();
        }
        if (Character.isLetter(text.charAt(0))) {
            return text;
        }
        return text.contains(".") ? (Object) Float.valueOf(text) : Integer.valueOf(text);
    }

    /** A program as the file writes programs. */
    public static List<String> lines(Program program) {
        List<String> lines = new ArrayList<>();
        for (Block block : program.blocks()) {
            lines.add("block " + block.index() + " parent " + block.parent() + " forward " + block.forward());
            block.vars().forEach(desc -> lines.add("  var " + line(desc)));
            block.ops().forEach(op -> lines.add("  op " + line(op)));
        }
        return lines;
    }

    private static String line(VarDesc desc) {
        String stop = desc.stopsGradient() ? " stop" : "";
        VarType.TensorType tensor = desc.type().tensorType();
        if (tensor == null) {
            return desc.name() + " scopes" + stop;
        }
        return desc.name() + " " + tensor.dataType() + joined(tensor.dims())
                + (desc.isPersistable() ? " persistable" : "")
                + (desc.isTrained() ? " parameter" : "") + stop;
    }

    private static String line(OpDesc op) {
        List<String> shown = new ArrayList<>();
        for (String name : SHOWN) {
            Attribute value = op.attribute(name);
            if (value != null) {
                shown.add(name + "=" + text(value));
            }
        }
        String pair = op.attribute(Roles.VARIABLES) instanceof Attribute.Texts(List<String> names)
                ? String.join(",", names)
                : "";
        return op.type() + "(" + slots(op.inputs()) + ") -> " + slots(op.outputs()) + " {" + String.join(" ", shown)
                + "} role "
                + Roles.of(op) + (pair.isEmpty() ? "" : " of " + pair);
    }

    private static String slots(Map<String, List<String>> slots) {
        return new TreeMap<>(slots).entrySet().stream().filter(each -> !each.getValue().isEmpty())
                .map(each -> each.getKey() + "=" + String.join(",", each.getValue())).collect(Collectors.joining(" "));
    }

    private static String text(Attribute value) {
        return switch (value) {
            case Attribute.Int(int number) -> Integer.toString(number);
            case Attribute.Real(float number) -> Float.toString(number);
            case Attribute.Text(String words) -> words;
            case Attribute.Bool(boolean truth) -> Boolean.toString(truth);
            case Attribute.BlockRef(int index) -> Integer.toString(index);
            case Attribute.Ints(List<Integer> numbers) -> joined(numbers);
            case Attribute.Int64s(List<Long> numbers) -> joined(numbers);
            case Attribute.Texts(List<String> texts) -> joined(texts);
            default -> value.toString();
        };
    }

    private static String joined(List<?> values) {
        return values.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }
}
