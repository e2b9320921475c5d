package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A module that requires one of ours can name all types of its public declarations, and compiles with what its POM
 * brings. This is javac's lint "exports" without annotations: those of JSpecify and ErrorProne are not in the POMs, and
 * who compiles against our classes does not need them.
 */
class ExportedTypesTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern TRANSITIVE = Pattern.compile("^\\s*requires transitive ([\\w.]+);",
            Pattern.MULTILINE);
    private static final Pattern MISSING = Pattern.compile("^\\s*requires static transitive ([\\w.]+);",
            Pattern.MULTILINE);
    private static final Pattern OURS = Pattern.compile("io\\.seriatim\\.(\\w+)");

    private static String descriptor(String module) throws IOException {
        return Files.readString(ROOT.resolve(module).resolve("src/main/java/module-info.java"));
    }

    /** Returns the modules that a module reads because it requires the given one. */
    private static Set<String> readable(String module) throws IOException {
        Set<String> all = new HashSet<>(Set.of("io.seriatim." + module, "java.base"));
        Matcher required = TRANSITIVE.matcher(descriptor(module));
        while (required.find()) {
            Matcher ours = OURS.matcher(required.group(1));
            all.addAll(ours.matches() ? readable(ours.group(1)) : Set.of(required.group(1)));
        }
        return all;
    }

    /** Returns the packages of our modules among these that all modules see. */
    private static Set<String> packages(Set<String> modules) throws IOException {
        Set<String> all = new HashSet<>();
        for (String module : modules) {
            Matcher ours = OURS.matcher(module);
            if (ours.matches()) {
                all.addAll(PublicApiTest.exports(ours.group(1)));
            }
        }
        return all;
    }

    private static void add(Type type, Set<Class<?>> all) {
        switch (type) {
            case Class<?> plain when plain.isArray() -> add(plain.getComponentType(), all);
            case Class<?> plain -> all.add(plain);
            case ParameterizedType generic -> {
                add(generic.getRawType(), all);
                Stream.of(generic.getActualTypeArguments()).forEach(each -> add(each, all));
            }
            case GenericArrayType array -> add(array.getGenericComponentType(), all);
            case WildcardType wildcard -> Stream.of(wildcard.getUpperBounds(), wildcard.getLowerBounds())
                    .flatMap(Stream::of).forEach(each -> add(each, all));
            // The bounds are those of its declaration.
            case TypeVariable<?> _ -> {
            }
            default -> throw new AssertionError(type);
        }
    }

    private static void add(Executable executable, Set<Class<?>> all) {
        Stream.of(executable.getGenericParameterTypes(), executable.getGenericExceptionTypes()).flatMap(Stream::of)
                .forEach(each -> add(each, all));
        Stream.of(executable.getTypeParameters()).flatMap(each -> Stream.of(each.getBounds()))
                .forEach(each -> add(each, all));
    }

    private static boolean isSeen(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /** Returns the types that the visible declarations of a class mention. */
    private static Set<Class<?>> mentioned(Class<?> type) {
        Set<Class<?>> all = new HashSet<>();
        Stream.of(type.getTypeParameters()).flatMap(each -> Stream.of(each.getBounds()))
                .forEach(each -> add(each, all));
        if (type.getGenericSuperclass() != null) {
            add(type.getGenericSuperclass(), all);
        }
        Stream.of(type.getGenericInterfaces()).forEach(each -> add(each, all));
        Stream.of(type.getDeclaredFields()).filter(each -> isSeen(each.getModifiers())).map(Field::getGenericType)
                .forEach(each -> add(each, all));
        Stream.of(type.getDeclaredConstructors()).filter(each -> isSeen(each.getModifiers()))
                .forEach(each -> add(each, all));
        Stream.of(type.getDeclaredMethods()).filter(each -> isSeen(each.getModifiers()) && !each.isSynthetic())
                .forEach(each -> {
                    add(each, all);
                    add(each.getGenericReturnType(), all);
                });
        return all;
    }

    private static boolean isVisible(Class<?> type) {
        return isSeen(type.getModifiers()) && !type.isAnonymousClass() && !type.isLocalClass()
                && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
    }

    /** Returns the types that a module mentions, but that those who require it cannot name. */
    private static List<String> unnameable(String module, Set<String> modules) throws IOException {
        Set<String> packages = packages(modules);
        List<String> found = new ArrayList<>();
        for (String name : PublicApiTest.exports(module)) {
            for (Class<?> type : PublicApiTest.classes(name)) {
                if (isVisible(type)) {
                    mentioned(type).stream().filter(each -> each.getModule().isNamed()
                            ? !modules.contains(each.getModule().getName())
                            : !packages.contains(each.getPackageName()))
                            .forEach(each -> found.add(type.getName() + " mentions " + each.getName()));
                }
            }
        }
        return found;
    }

    @Test
    void thoseWhoRequireAModuleCanNameItsTypes() throws IOException {
        TreeSet<String> wrong = new TreeSet<>();
        for (String module : PublicApiTest.published()) {
            wrong.addAll(unnameable(module, readable(module)));
        }
        assertEquals(new TreeSet<>(), wrong, "Export the package, or write 'requires transitive'");
    }

    @Test
    void aMissingTransitiveRequirementIsFound() throws IOException {
        List<String> found = unnameable("executor", Set.of("io.seriatim.executor", "java.base"));
        assertTrue(found.contains("io.seriatim.executor.Plan mentions io.seriatim.tensor.Tensor"), found::toString);
        assertTrue(unnameable("engine", Set.of("io.seriatim.engine")).stream()
                .anyMatch(each -> each.endsWith(" mentions java.lang.String")));
    }

    /** javac refuses a module whose transitive requirements are missing, also if they are static. */
    @Test
    void noModuleIsNeededThatThePomsDoNotBring() throws IOException {
        for (String module : PublicApiTest.published()) {
            assertFalse(MISSING.matcher(descriptor(module)).find(), () -> module
                    + " has 'requires static transitive': its POM does not bring that module, so that no module which requires "
                    + "this one can be compiled");
        }
    }
}
