package io.seriatim.graph.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every change of a program is counted. Every method that is not private is called by reflection, and the fields before
 * and after it are compared: a new one that changes something and forgets to count is found without being named here.
 * One with a parameter of a type that is not in {@link #sample} fails until it is added there.
 */
class ProgramModificationsTest {
    /** The methods that change a program; the test must have seen that they do. */
    private static final List<String> MUTATORS = List.of("Block.add", "Block.original", "Block.put", "Block.remove",
            "Block.set",
            "Block.setOps",
            "Block.sortVars", "Program.addBlock", "Program.expressedTraining", "Program.nextGradientCall",
            "Program.original", "Program.randomSeed",
            "Program.symbolicDims");

    private static final OpDesc OP = OpDesc.of("relu").in("X", "x").out("Out", "z").attr("a", 1).build();

    private static Program program() {
        Program program = Program.empty(Program.VERSION, Map.of("relu", 1));
        Block block = program.addBlock(Block.NONE, null);
        block.put(variable("x")).put(variable("a").persistent()).put(variable("y"))
                .add(OpDesc.of("scale").in("X", "x").out("Out", "y").build())
                .add(OpDesc.of("tanh").in("X", "x").out("Out", "y").build());
        return program;
    }

    private static VarDesc variable(String name) {
        return VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, 2));
    }

    /**
     * The content of a program, found by reflection. The count of changes and references back to the program are left
     * out.
     */
    private static String state(Object of) {
        StringBuilder text = new StringBuilder();
        for (Field field : fields(of.getClass())) {
            text.append(field.getName()).append('=').append(value(read(field, of))).append('\n');
        }
        return text.toString();
    }

    private static List<Field> fields(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields()).filter(field -> !Modifier.isStatic(field.getModifiers()))
                .filter(field -> !field.getName().equals("modifications") && !field.getType().equals(Program.class))
                .sorted(Comparator.comparing(Field::getName)).toList();
    }

    private static @Nullable Object read(Field field, Object of) {
        try {
            field.setAccessible(true);
            return field.get(of);
        } catch (IllegalAccessException e) {
            throw new AssertionError(field + " cannot be read", e);
        }
    }

    private static String value(@Nullable Object value) {
        return switch (value) {
            case Block block -> "{" + state(block) + "}";
            case Map<?, ?> map ->
                "{" + map.entrySet().stream().map(entry -> entry.getKey() + ":" + value(entry.getValue())).toList()
                        + "}";
            case Collection<?> list -> list.stream().map(ProgramModificationsTest::value).toList().toString();
            case OpDesc op -> state(op);
            case VarDesc variable -> state(variable);
            case null -> "null";
            default -> value.toString();
        };
    }

    /** An argument that makes a difference where one can. */
    private static @Nullable Object sample(Method method, int parameter) {
        String type = method.getGenericParameterTypes()[parameter].toString().replaceFirst("^(class|interface) ", "")
                .replaceAll("java\\.(util|lang)\\.|io\\.seriatim\\.graph\\.(program\\.)?", "");
        return switch (type) {
            case "String" -> "y";
            case "int" -> 0;
            case "long" -> 77L;
            case "boolean" -> true;
            case "Integer", "Long", "Boolean" -> null;
            case "Object" -> 5;
            case "VarDesc" -> variable("new");
            case "VarType" -> VarType.dense(DType.INT64, 3);
            case "OpDesc" -> OP;
            case "SymbolicDims" -> new SymbolicDims(Map.of("x", List.of("batch")));
            case "OriginalMessage" -> new OriginalMessage(new byte[]{8, 1}, new byte[0]);
            case "List<OpDesc>" -> List.of(OP);
            case "List<String>", "Collection<String>" -> List.of("x");
            case "Map<String, List<String>>" -> Map.of("X", List.of("y"));
            case "Map<String, Integer>" -> Map.of("relu", 2);
            case "Map<String, String>" -> Map.of("y", "result");
            case "function.UnaryOperator<String>" -> (UnaryOperator<String>) name -> name + "2";
            default -> throw new AssertionError(
                    method + " has a parameter of type " + type
                            + ": add an argument of that type to ProgramModificationsTest.sample");
        };
    }

    private static List<Method> methods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> !Modifier.isPrivate(method.getModifiers())
                        && !Modifier.isStatic(method.getModifiers())
                        && !method.isSynthetic())
                .filter(method -> !method.getName().equals("equals")).sorted(Comparator.comparing(Method::toString))
                .toList();
    }

    private static @Nullable Object call(Method method, Object on) {
        @Nullable
        Object[] arguments = new Object[method.getParameterCount()];
        Arrays.setAll(arguments, i -> sample(method, i));
        try {
            method.setAccessible(true);
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            // A method that throws must not have changed anything; the comparison that follows checks that.
            return null;
        } catch (IllegalAccessException e) {
            throw new AssertionError(method + " cannot be called", e);
        }
    }

    @Test
    void everyChangeIsCounted() {
        TreeSet<String> changing = new TreeSet<>();
        for (Class<?> type : List.of(Program.class, Block.class, OpDesc.class, VarDesc.class)) {
            for (Method method : methods(type)) {
                Program program = program();
                Object on = on(type, program);
                String before = state(program);
                long count = program.modifications();
                call(method, on);
                if (!state(program).equals(before)) {
                    changing.add(type.getSimpleName() + "." + method.getName());
                    assertNotEquals(count, program.modifications(),
                            method + " changes the program and does not count it");
                }
            }
        }
        assertEquals(new TreeSet<>(MUTATORS), changing, "the methods that change a program");
    }

    private static Object on(Class<?> type, Program program) {
        if (type.equals(Program.class)) {
            return program;
        }
        Block block = program.global();
        return type.equals(Block.class) ? block : type.equals(OpDesc.class) ? block.ops().getFirst() : block.get("x");
    }

    /** Collections that are handed out refuse every change. */
    @Test
    void whatIsHandedOutCannotBeChanged() {
        int collections = 0;
        for (Class<?> type : List.of(Program.class, Block.class, OpDesc.class, VarDesc.class)) {
            for (Method method : methods(type)) {
                Program program = program();
                String before = state(program);
                Object given = method.getParameterCount() == 0 ? call(method, on(type, program)) : null;
                List<Runnable> changes = given == null ? List.of() : changes(given);
                for (Runnable change : changes) {
                    try {
                        change.run();
                    } catch (UnsupportedOperationException | IllegalStateException | IndexOutOfBoundsException
                            | NoSuchElementException e) {
                        assertNotNull(e, "refused, or there is nothing to remove");
                    }
                    assertEquals(before, state(program), "the program changed through what " + method + " gave");
                }
                collections += changes.isEmpty() ? 0 : 1;
            }
        }
        assertTrue(collections >= 8, "collections handed out: " + collections);
    }

    @SuppressWarnings("unchecked") // The elements' types do not matter to a removal, and none is added.
    private static List<Runnable> changes(Object given) {
        List<Runnable> changes = new ArrayList<>();
        switch (given) {
            case List<?> list -> {
                changes.add(list::clear);
                changes.add(list::removeLast);
                changes.add(() -> ((List<@Nullable Object>) list).set(0, null));
                changes.add(() -> list.listIterator().remove());
                changes.add(() -> list.subList(0, 1).clear());
                list.forEach(each -> changes.addAll(each == null || each instanceof Block ? List.of() : changes(each)));
            }
            case Collection<?> all -> {
                changes.add(all::clear);
                changes.add(() -> all.removeIf(_ -> true));
            }
            case Map<?, ?> map -> {
                changes.add(map::clear);
                changes.add(() -> map.keySet().clear());
                changes.add(() -> map.values().clear());
                changes.add(() -> ((Map<?, @Nullable Object>) map).entrySet().iterator().next().setValue(null));
                map.values().forEach(each -> changes.addAll(each == null ? List.of() : changes(each)));
            }
            default -> {
            }
        }
        return changes;
    }

    @Test
    void aCopyCountsOnItsOwn() {
        Program program = program();
        Program copy = program.copy();
        long count = program.modifications();
        copy.global().remove("y");
        assertEquals(count, program.modifications());
    }
}
