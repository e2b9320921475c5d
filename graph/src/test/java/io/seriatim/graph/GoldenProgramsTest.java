package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The builder makes the program that Paddle makes: the same operations in the same order, with the same slots,
 * attributes, roles and variables. Temporary variables may have other numbers, one for one; parameters and all else
 * that is saved have the same names.
 */
class GoldenProgramsTest {
    /** Attributes that Paddle's operations carry for its own kernels. */
    private static final Set<String> RUNTIME = Set.of("use_mkldnn", "mkldnn_data_type", "use_quantizer", "Scale_x",
            "Scale_y", "Scale_out",
            "use_cudnn", "is_test", "exhaustive_search", "force_fp32_output", "use_addto", "workspace_size_MB",
            "fuse_with_relu",
            "data_format",
            "epmap", "height_sections", "table_names", "trainer_id", "slot", "is_distributed", "remote_prefetch",
            "is_sparse", "fix_seed",
            "seed", "op_namescope", "with_quant_attr");

    /** Attributes of recurrent layers that Paddle has not, with the values that stand for what it has. */
    private static final Map<String, Attribute> OWN = Map.of("gate_order", Attribute.of("paddle"), "is_reverse",
            Attribute.of(false));

    @TestFactory
    Stream<DynamicTest> programs() {
        Map<String, Tensor> golden = GoldenNetworks.entries();
        return GoldenNetworks.ALL.entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
            Network network = Network.define(entry.getValue());
            Comparison comparison = new Comparison();
            comparison.programs("startup", GoldenOperations.program(golden, entry.getKey() + "/startup"),
                    network.startup());
            comparison.programs("main", GoldenOperations.program(golden, entry.getKey() + "/main"), network.main());
            assertEquals("", String.join("\n", comparison.wrong.subList(0, Math.min(12, comparison.wrong.size()))));
        }));
    }

    private static final class Comparison {
        final List<String> wrong = new ArrayList<>();
        private final Map<String, String> names = new HashMap<>();
        private final Map<String, String> back = new HashMap<>();

        void programs(String which, Program expected, Program actual) {
            if (expected.blocks().size() != actual.blocks().size()) {
                wrong.add(which + " has " + expected.blocks().size() + " blocks in Paddle, but "
                        + actual.blocks().size() + " here");
            }
            for (int i = 0; i < Math.min(expected.blocks().size(), actual.blocks().size()); i++) {
                blocks(which + " block " + i, expected.block(i), actual.block(i));
            }
            for (int i = 0; i < Math.min(expected.blocks().size(), actual.blocks().size()); i++) {
                variables(which + " block " + i, expected.block(i), actual.block(i));
            }
        }

        private void blocks(String where, Block expected, Block actual) {
            if (expected.parent() != actual.parent() || expected.forward() != actual.forward()) {
                wrong.add(where + ": parent and forward are " + expected.parent() + ", " + expected.forward()
                        + " in Paddle, but "
                        + actual.parent() + ", " + actual.forward());
            }
            List<String> types = expected.ops().stream().map(OpDesc::type).toList();
            List<String> own = actual.ops().stream().map(OpDesc::type).toList();
            if (!types.equals(own)) {
                wrong.add(where + ": operations are\n " + types + " in Paddle, but\n " + own);
                return;
            }
            for (int i = 0; i < types.size(); i++) {
                String at = where + " operation " + i + " " + types.get(i);
                slots(at, expected.ops().get(i).inputs(), actual.ops().get(i).inputs());
                slots(at, expected.ops().get(i).outputs(), actual.ops().get(i).outputs());
                attributes(at, expected.ops().get(i), actual.ops().get(i));
            }
        }

        private void slots(String where, Map<String, List<String>> expected, Map<String, List<String>> actual) {
            Map<String, List<String>> left = filled(expected);
            Map<String, List<String>> right = filled(actual);
            if (!left.keySet().equals(right.keySet())) {
                wrong.add(where + ": slots are " + left.keySet() + " in Paddle, but " + right.keySet());
                return;
            }
            boolean unordered = where.contains("while") || where.contains("conditional_block");
            left.forEach((slot, namesThere) -> {
                List<String> here = right.getOrDefault(slot, List.of());
                if (namesThere.size() != here.size()) {
                    wrong.add(where + ": " + slot + " is " + namesThere + " in Paddle, but " + here);
                } else if (unordered) {
                    unordered(where + " " + slot, namesThere, here);
                } else {
                    for (int i = 0; i < here.size(); i++) {
                        name(where + " " + slot, namesThere.get(i), here.get(i));
                    }
                }
            });
        }

        /** Paddle takes these from a set of texts: only what is known already can be compared. */
        private void unordered(String where, List<String> expected, List<String> actual) {
            Set<String> rest = new HashSet<>(actual);
            for (String name : expected) {
                String known = names.get(name);
                if (known != null && !rest.remove(known)) {
                    wrong.add(where + ": " + name + " (here " + known + ") is not among " + actual);
                }
            }
            if (expected.size() == 1) {
                name(where, expected.getFirst(), actual.getFirst());
            }
        }

        private void name(String where, String expected, String actual) {
            String known = names.putIfAbsent(expected, actual);
            String knownBack = back.putIfAbsent(actual, expected);
            if ((known != null && !known.equals(actual)) || (knownBack != null && !knownBack.equals(expected))) {
                wrong.add(where + ": " + expected + " in Paddle was " + known + ", but is " + actual);
            }
        }

        private static Map<String, List<String>> filled(Map<String, List<String>> slots) {
            Map<String, List<String>> filled = new TreeMap<>(slots);
            filled.values().removeIf(List::isEmpty);
            return filled;
        }

        private void attributes(String where, OpDesc expected, OpDesc actual) {
            Set<String> all = new HashSet<>();
            expected.attributes().forEach(each -> all.add(each.name()));
            actual.attributes().forEach(each -> all.add(each.name()));
            for (String name : all) {
                Attribute left = expected.attribute(name);
                Attribute right = actual.attribute(name);
                boolean runtime = RUNTIME.contains(name)
                        && (left == null || right == null || name.equals("op_namescope"));
                boolean names = name.equals("op_role_var") || name.equals("original_output_grad");
                boolean own = where.contains(" rnn") && left == null && right != null && right.equals(OWN.get(name));
                if (!runtime && !own && !(names ? sameNames(left, right) : Objects.equals(left, right))) {
                    wrong.add(where + ": " + name + " is " + left + " in Paddle, but " + right);
                }
            }
        }

        private boolean sameNames(@Nullable Attribute left,
                @Nullable Attribute right) {
            return left instanceof Attribute.Texts(List<String> a) && right instanceof Attribute.Texts(List<String> b)
                    && a.stream().map(name -> names.getOrDefault(name, name)).toList().equals(b);
        }

        private void variables(String where, Block expected, Block actual) {
            for (VarDesc desc : expected.vars()) {
                String name = desc.isPersistable() ? desc.name() : names.getOrDefault(desc.name(), desc.name());
                VarDesc own = actual.var(name);
                if (own == null) {
                    wrong.add(where + ": variable " + desc + " is not there (here " + name + ")");
                } else if (own.type().kind() != desc.type().kind() || own.isPersistable() != desc.isPersistable()
                        || (desc.type() instanceof VarType.Dense
                                && !Objects.equals(own.type().tensorType(), desc.type().tensorType()))
                        || (own.isTrained() != desc.isTrained() && !desc.name().contains("batch_norm"))
                        || (own.stopsGradient() != desc.stopsGradient() && !desc.name().contains("XShape"))) {
                    wrong.add(where + ": " + desc + " in Paddle, but " + own);
                }
            }
            if (actual.vars().size() != expected.vars().size()) {
                wrong.add(
                        where + " has " + expected.vars().size() + " variables in Paddle, but " + actual.vars().size());
            }
        }
    }
}
