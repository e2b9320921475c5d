package io.seriatim.examples.architecture;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The declarations of classes that their users can see, as text: what a caller or a subclass in another module can
 * name, with generic types and nullness, in an order that does not depend on the sources.
 */
final class ApiText {
    private static final int VISIBLE = Modifier.PUBLIC | Modifier.PROTECTED;
    /** What matters to a user; synchronization, for example, does not. */
    private static final int MODIFIERS = VISIBLE | Modifier.ABSTRACT | Modifier.STATIC | Modifier.FINAL;
    private static final Pattern PACKAGES = Pattern.compile("\\b(?:[a-z][a-z0-9_]*\\.)+(?=[A-Z@])");
    /** Annotations stand before the simple name, as in sources. */
    private static final Pattern QUALIFIED = Pattern.compile("\\b((?:[a-z][a-z0-9_]*\\.)+)(@[\\w.]+(?:\\(\\))? )");
    private static final List<Class<? extends Annotation>> CONTRACTS = List.of(Deprecated.class,
            FunctionalInterface.class);

    private ApiText() {
    }

    /** Returns the declarations of all classes that are visible outside of their package, with those inside them. */
    static String of(Collection<Class<?>> classes) {
        TreeSet<String> types = new TreeSet<>();
        classes.stream().filter(ApiText::isVisible).forEach(each -> types.add(describe(each)));
        return String.join("\n", types);
    }

    private static boolean isVisible(Class<?> type) {
        Class<?> outer = type.getDeclaringClass();
        return !type.isSynthetic() && !type.isAnonymousClass() && !type.isLocalClass()
                && isVisible(type.getModifiers(), outer) && (outer == null || isVisible(outer));
    }

    /** A protected member can be used in subclasses, if there can be any. */
    private static boolean isVisible(int modifiers, @Nullable Class<?> owner) {
        return Modifier.isPublic(modifiers)
                || (Modifier.isProtected(modifiers) && owner != null && !Modifier.isFinal(owner.getModifiers()));
    }

    private static String describe(Class<?> type) {
        List<String> members = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if (!field.isSynthetic() && !field.isEnumConstant() && isVisible(field.getModifiers(), type)) {
                members.add(marks(field) + modifiers(field.getModifiers()) + name(field.getAnnotatedType()) + " "
                        + field.getName());
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (!constructor.isSynthetic() && isVisible(constructor.getModifiers(), type)) {
                members.add(marks(constructor) + modifiers(constructor.getModifiers())
                        + variables(constructor.getTypeParameters()) + type.getSimpleName() + signature(constructor));
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (!method.isSynthetic() && isVisible(method.getModifiers(), type) && !isImplied(type, method)) {
                int implied = type.isInterface() ? Modifier.ABSTRACT : 0;
                members.add(marks(method) + (method.isDefault() ? "default " : "")
                        + modifiers(method.getModifiers() & ~implied)
                        + variables(method.getTypeParameters()) + name(method.getAnnotatedReturnType()) + " "
                        + method.getName() + signature(method));
            }
        }
        // By name, whatever stands before it.
        members.sort((a, b) -> key(a).compareTo(key(b)));
        StringBuilder text = new StringBuilder(header(type)).append('\n');
        members.forEach(member -> text.append("  ").append(member).append('\n'));
        return text.toString();
    }

    /** All records have these, declared or not; all enums have values and valueOf. */
    private static boolean isImplied(Class<?> type, Method method) {
        return type.isRecord()
                ? List.of("equals", "hashCode", "toString").contains(method.getName())
                : type.isEnum() && List.of("values", "valueOf").contains(method.getName());
    }

    private static String key(String member) {
        int parameters = member.indexOf('(');
        String before = parameters < 0 ? member : member.substring(0, parameters);
        return (parameters < 0 ? "0" : "1") + before.substring(before.lastIndexOf(' ') + 1) + " " + member;
    }

    private static String header(Class<?> type) {
        String kind = type.isAnnotation()
                ? "@interface"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        int implied = type.isInterface() ? Modifier.ABSTRACT | Modifier.STATIC : 0;
        implied |= type.isRecord() || type.isEnum() ? Modifier.FINAL | Modifier.STATIC | Modifier.ABSTRACT : 0;
        StringBuilder text = new StringBuilder(type.getName()).append(": ").append(marks(type))
                .append(modifiers(type.getModifiers() & ~implied))
                .append(type.isSealed() && !type.isEnum() ? "sealed " : "")
                .append(kind).append(' ').append(type.getSimpleName()).append(variables(type.getTypeParameters())
                        .strip());
        if (type.isRecord()) {
            text.append(Arrays.stream(type.getRecordComponents())
                    .map(part -> name(part.getAnnotatedType()) + " " + part.getName())
                    .collect(Collectors.joining(", ", "(", ")")));
        }
        if (type.isEnum()) {
            text.append(Arrays.stream(type.getDeclaredFields()).filter(Field::isEnumConstant).map(Field::getName)
                    .collect(Collectors.joining(", ", " {", "}")));
        }
        AnnotatedType parent = type.getAnnotatedSuperclass();
        if (parent != null && !type.isRecord() && !type.isEnum() && parent.getType() != Object.class) {
            text.append(" extends ").append(name(parent));
        }
        text.append(list(type.isInterface() ? " extends " : " implements ",
                Arrays.stream(type.getAnnotatedInterfaces())));
        if (type.isSealed() && !type.isEnum()) {
            text.append(Arrays.stream(type.getPermittedSubclasses()).map(Class::getSimpleName).sorted()
                    .collect(Collectors.joining(", ", " permits ", "")));
        }
        return text.toString();
    }

    private static String marks(AnnotatedElement element) {
        return CONTRACTS.stream().filter(element::isAnnotationPresent).map(each -> "@" + each.getSimpleName() + " ")
                .collect(Collectors.joining());
    }

    private static String modifiers(int modifiers) {
        String text = Modifier.toString(modifiers & MODIFIERS);
        return text.isEmpty() ? "" : text + " ";
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0 ? "" : Arrays.stream(variables).map(variable -> {
            String bounds = Arrays.stream(variable.getAnnotatedBounds()).map(ApiText::name)
                    .filter(bound -> !bound.equals("Object")).collect(Collectors.joining(" & "));
            return variable.getName() + (bounds.isEmpty() ? "" : " extends " + bounds);
        }).collect(Collectors.joining(", ", "<", "> "));
    }

    private static String signature(Executable executable) {
        AnnotatedType[] types = executable.getAnnotatedParameterTypes();
        List<String> parameters = new ArrayList<>(Arrays.stream(types).map(ApiText::name).toList());
        if (executable.isVarArgs()) {
            String last = parameters.removeLast();
            parameters.add(last.substring(0, last.length() - "[]".length()) + "...");
        }
        return "(" + String.join(", ", parameters) + ")"
                + list(" throws ", Arrays.stream(executable.getAnnotatedExceptionTypes()));
    }

    private static String list(String before, Stream<AnnotatedType> types) {
        List<String> names = types.map(ApiText::name).toList();
        return names.isEmpty() ? "" : before + String.join(", ", names);
    }

    /** Returns a type without the packages, which its imports would say. */
    private static String name(AnnotatedType type) {
        String annotated = QUALIFIED.matcher(type.toString()).replaceAll("$2$1");
        return PACKAGES.matcher(annotated).replaceAll("").replace("Nullable()[", "Nullable [")
                .replace("Nullable() ", "Nullable ").replace('$', '.');
    }
}
