package io.seriatim.graph.op;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The methods of {@link Operation.Builder}, in a file of their own since there are many. */
abstract sealed class OperationBuilder permits Operation.Builder {
    final String type;
    final List<Slot> inputs = new ArrayList<>();
    final List<Slot> outputs = new ArrayList<>();
    final Map<String, AttributeSpec> attributes = new LinkedHashMap<>();
    Inference.Rule inference = _ -> {
    };
    Lowering.@Nullable Rule lowering;
    Lowering.@Nullable Rule differentiable;
    @Nullable
    GradientRule gradient;
    final EnumSet<Effect> effects = EnumSet.noneOf(Effect.class);
    final Set<String> values = new HashSet<>();
    final Set<String> differentiableValues = new HashSet<>();
    final Set<String> shapesOnly = new HashSet<>();
    @Nullable
    String file;
    final Set<String> aliases = new HashSet<>();
    final Set<String> lodInputs = new LinkedHashSet<>();
    final Set<String> lodOutputs = new LinkedHashSet<>();
    @Nullable
    Map<String, String> lodShares;
    final List<Operation.Refusal> refusals = new ArrayList<>();
    Operation.@Nullable RankRefusal rankRefusal;
    boolean boundary;
    boolean shapeArithmetic;
    boolean copy;
    boolean keepsNothing;
    @Nullable
    UnaryOperator<long[]> ofShape;
    Operation.@Nullable ByElements byElements;
    @Nullable
    Function<OpDesc, List<String>> changedInPlace;
    @Nullable
    UnaryOperator<OpDesc> runForm;
    final List<Operation.Builder> with = new ArrayList<>();

    OperationBuilder(String type) {
        this.type = type;
    }

    abstract Operation.Builder self();

    /**
     * Input slots.
     *
     * @param slots
     *            names; followed by * for a list, ? for one that may be left out
     * @return this
     */
    public Operation.Builder in(String... slots) {
        inputs.addAll(Slot.parse(slots));
        return self();
    }

    /**
     * Output slots.
     *
     * @param slots
     *            names; followed by * for a list, ? for one that may be left out, ~ for one that only the gradient
     *            reads
     * @return this
     */
    public Operation.Builder out(String... slots) {
        outputs.addAll(Slot.parse(slots));
        return self();
    }

    /**
     * An attribute with a default.
     *
     * @param name
     *            its name
     * @param byDefault
     *            its value unless given, see {@link Attribute#of}; its type is the attribute's
     * @return this
     */
    public Operation.Builder attr(String name, Object byDefault) {
        Attribute value = Attribute.of(byDefault);
        attributes.put(name, new AttributeSpec(name, value.getClass(), value));
        return self();
    }

    /**
     * An attribute that must be given.
     *
     * @param name
     *            its name
     * @param attributeType
     *            the record that its value is
     * @return this
     */
    public Operation.Builder required(String name, Class<? extends Attribute> attributeType) {
        attributes.put(name, new AttributeSpec(name, attributeType, null));
        return self();
    }

    /**
     * Declares that it reads or writes a file. It is run only where the caller allows files, see
     * {@link io.seriatim.graph.interpret.AllowedFiles}.
     *
     * @param attribute
     *            a text that must be given: the file's name
     * @return this
     */
    public Operation.Builder file(String attribute) {
        file = attribute;
        return required(attribute, Attribute.Text.class).effect(Effect.HOST);
    }

    /**
     * Adds a rule that refuses operations of the type which cannot be run, whatever their inputs. Programs with such
     * operations are refused before any operation runs.
     *
     * @param rule
     *            looks at attributes only; several calls add rules, of which the first that refuses is quoted
     * @return this
     */
    public Operation.Builder refuse(Operation.Refusal rule) {
        refusals.add(rule);
        return self();
    }

    /**
     * Sets the rule that refuses operations of the type among a number of ranks, or without a communicator.
     *
     * @param rule
     *            looks at attributes only
     * @return this
     */
    public Operation.Builder refuseRanks(Operation.RankRefusal rule) {
        rankRefusal = rule;
        return self();
    }

    /**
     * Sets the rule that infers the outputs' types and shapes.
     *
     * @param rule
     *            sets the outputs' types and shapes
     * @return this
     */
    public Operation.Builder infer(Inference.Rule rule) {
        inference = rule;
        return self();
    }

    /**
     * Sets the rule that lowers it to steps. A type without the rule is an instruction that only an executor can carry
     * out.
     *
     * @param rule
     *            makes the steps
     * @return this
     */
    public Operation.Builder lower(Lowering.Rule rule) {
        lowering = rule;
        return self();
    }

    /**
     * Sets steps that are differentiated in place of those of {@link #lower}: of this operation if its gradient is
     * derived, and of the gradient that {@link #grad(String, Lowering.Rule)} defines with it, so that there are
     * gradients of that, too. They may be slower; nothing else runs them.
     *
     * @param rule
     *            makes the steps, each of a computation that has a gradient
     * @param slots
     *            inputs whose values decide on these steps
     * @return this
     */
    public Operation.Builder differentiateAs(Lowering.Rule rule, String... slots) {
        differentiable = rule;
        differentiableValues.addAll(List.of(slots));
        return self();
    }

    /**
     * Its gradient, one operation. Unless that is defined elsewhere it is derived: this operation is lowered again, and
     * its steps are differentiated in reverse.
     *
     * @param signature
     *            {@code type(Slot, Slot@GRAD, Slot=Other@GRAD) -> Slot@GRAD}; it gets the forward's attributes
     * @return this
     */
    public Operation.Builder grad(String signature) {
        gradient = GradientSignature.parse(signature)
                .withLists(name -> inputs.stream().anyMatch(slot -> slot.name().equals(name) && slot.list()));
        return self();
    }

    /**
     * Its gradient.
     *
     * @param rule
     *            makes the operations
     * @return this
     */
    public Operation.Builder grad(GradientRule rule) {
        gradient = rule;
        return self();
    }

    /**
     * Its gradient, which is defined with it: with the slots of the signature, this operation's attributes, and
     * gradients that have the shape and type of what they are gradients of.
     *
     * @param signature
     *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}
     * @param rule
     *            what the gradient comes down to
     * @return this
     */
    public Operation.Builder grad(String signature, Lowering.Rule rule) {
        return grad(signature, null, rule);
    }

    /**
     * Its gradient, which is defined with it: with the slots of the signature and this operation's attributes.
     *
     * @param signature
     *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}
     * @param infer
     *            how the gradient infers, or null if gradients have the shape and type of what they are gradients
     *            of
     * @param rule
     *            what the gradient comes down to
     * @return this
     */
    public Operation.Builder grad(String signature, Inference.@Nullable Rule infer, Lowering.Rule rule) {
        with.add(gradOperation(signature, infer).lower(rule));
        return grad(signature);
    }

    /**
     * Begins the definition of a gradient operation, for one that has a gradient of its own: with the slots of the
     * signature, and this operation's attributes. That does not make it the gradient of this operation: call
     * {@link #grad(String)} with the same signature too. The returned builder still needs its lowering and its own
     * gradient, and is registered by its own {@link #register}. Where gradients have no gradients,
     * {@link #grad(String, Lowering.Rule)} does all of this.
     *
     * @param signature
     *            {@code type(Slot, Slot@GRAD) -> Slot@GRAD}; its slots must be defined before
     * @param infer
     *            how the gradient infers, or null if gradients have the shape and type of what they are gradients
     *            of
     * @return a builder of the gradient operation
     * @throws IllegalArgumentException
     *             if the signature names a slot that this operation does not have
     */
    public Operation.Builder gradOperation(String signature, Inference.@Nullable Rule infer) {
        GradientSignature parsed = GradientSignature.parse(signature);
        Operation.Builder builder = new Operation.Builder(parsed.type());
        parsed.inputs().forEach(binding -> builder.inputs.add(slot(binding)));
        parsed.outputs().forEach(binding -> builder.outputs.add(slot(binding)));
        builder.attributes.putAll(attributes);
        builder.refusals.addAll(refusals);
        for (GradientSignature.Binding binding : parsed.inputs()) {
            if (!binding.gradient()
                    && (lodInputs.contains(binding.forward()) || lodOutputs.contains(binding.forward()))) {
                builder.readsLod(binding.slot());
            }
        }
        return builder.infer(infer != null ? infer : inference -> GradientInference.infer(parsed, inference));
    }

    /** Takes over the attributes of another type, its refusals, and which of its inputs decide on shapes. */
    Operation.Builder like(Operation other) {
        other.attributes().forEach(spec -> attributes.put(spec.name(), spec));
        refusals.addAll(other.refusals());
        for (Slot slot : inputs) {
            for (String name : List.of(slot.name(), LodSlot.of(slot.name()))) {
                if (other.values().contains(name) || other.differentiableValues().contains(name)) {
                    values.add(name);
                }
            }
            if (other.lodInputs().contains(slot.name())) {
                lodInputs.add(slot.name());
            }
        }
        return self();
    }

    Operation build() {
        return new Operation(self());
    }

    private Slot slot(GradientSignature.Binding binding) {
        for (String name : List.of(binding.written(), binding.forward())) {
            for (List<Slot> slots : List.of(outputs, inputs)) {
                for (Slot slot : slots) {
                    if (slot.name().equals(name)) {
                        return new Slot(binding.slot(), slot.list(), true, false);
                    }
                }
            }
        }
        throw new IllegalArgumentException("The gradient of '" + type + "' names the slot '" + binding.forward()
                + "', which the operation does not have; define slots before the gradient");
    }

    /**
     * Declares an effect other than writing the outputs.
     *
     * @param effect
     *            one or more calls
     * @return this
     */
    public Operation.Builder effect(Effect effect) {
        effects.add(effect);
        return self();
    }

    /**
     * Inputs whose values decide on shapes or on the steps.
     *
     * @param slots
     *            their names
     * @return this
     */
    public Operation.Builder values(String... slots) {
        values.addAll(List.of(slots));
        return self();
    }

    /**
     * Inputs whose level-of-detail offsets it reads, in rules by {@link Inference#lod} and {@link Lowering#lod}. A
     * gradient that is defined afterwards and has such a slot reads them too. The number of sequences may determine
     * shapes, see {@link Inference#sequences}. Where the offsets themselves do, also declare the values of
     * {@link LodSlot#of}.
     *
     * @param slots
     *            their names
     * @return this
     */
    public Operation.Builder readsLod(String... slots) {
        lodInputs.addAll(List.of(slots));
        return self();
    }

    /**
     * Outputs for which it makes level-of-detail offsets; its inference sets them by {@link Inference#setLod}. A
     * gradient that is defined afterwards and has such a slot reads them.
     *
     * @param slots
     *            their names
     * @return this
     */
    public Operation.Builder makesLod(String... slots) {
        lodOutputs.addAll(List.of(slots));
        return self();
    }

    /**
     * Gives an output the level-of-detail offsets of an input, and outputs that are not named in such a call none.
     * Without a call, the rules of {@link LodSharing} apply.
     *
     * @param input
     *            the input slot
     * @param output
     *            the output slot
     * @return this
     */
    public Operation.Builder sharesLod(String input, String output) {
        if (lodShares == null) {
            lodShares = new LinkedHashMap<>();
        }
        lodShares.put(output, input);
        return self();
    }

    /**
     * Declares that no output takes over the level-of-detail offsets of an input.
     *
     * @return this
     */
    public Operation.Builder sharesNoLod() {
        lodShares = new LinkedHashMap<>();
        return self();
    }

    /**
     * Inputs of which only type and shape are used, so that their memory may be gone.
     *
     * @param slots
     *            their names
     * @return this
     */
    public Operation.Builder shapesOnly(String... slots) {
        shapesOnly.addAll(List.of(slots));
        return self();
    }

    /**
     * Outputs that share memory with another variable from this operation on: see {@link Lowering#alias}.
     *
     * @param slots
     *            their names, and those of the outputs whose memory they share
     * @return this
     */
    public Operation.Builder aliases(String... slots) {
        aliases.addAll(List.of(slots));
        return self();
    }

    /**
     * Declares that it stands at the boundary of a program and brings values into a run or out of it. An executor does
     * that before and after the run, and leaves the operation out.
     *
     * @return this
     */
    public Operation.Builder boundary() {
        boundary = true;
        return self();
    }

    /**
     * Declares that programs compute shapes with it, and that it has no effects: an executor may compute it once for a
     * plan if all its inputs are known by then and it has no more elements than a shape has.
     *
     * @return this
     */
    public Operation.Builder shapeArithmetic() {
        shapeArithmetic = true;
        return self();
    }

    /**
     * Declares that its only output is its only input: an executor may let it have the input's memory if nothing else
     * reads or keeps the input.
     *
     * @return this
     */
    public Operation.Builder copies() {
        copy = true;
        return self();
    }

    /**
     * Declares that the operation, where an executor runs it on values instead of variables with names, keeps no
     * reference to the tensors that it reads and has written: it only runs a block, chooses a value, or copies it to a
     * list. Such memory can be used again.
     *
     * @return this
     */
    public Operation.Builder keepsNothing() {
        keepsNothing = true;
        return self();
    }

    /**
     * Declares that its only output follows from the shape of an input: shape arithmetic whose result is known as soon
     * as that shape is.
     *
     * @param slot
     *            the input, of which only the shape is used
     * @param elements
     *            the output's elements for an input of such dimensions
     * @return this
     */
    public Operation.Builder ofShape(String slot, UnaryOperator<long[]> elements) {
        ofShape = elements;
        return shapesOnly(slot).shapeArithmetic();
    }

    /**
     * Gives what computes its only result, whose size depends on elements of operands, when an executor runs it again
     * and again: without inference and steps, which read the elements twice. Its slots hold one variable each.
     *
     * @param compute
     *            computes what inference and steps do
     * @return this
     */
    public Operation.Builder byElements(Operation.ByElements compute) {
        byElements = compute;
        return self();
    }

    /**
     * Declares variables that it changes in part, as an operation does that writes one element of a list, or that it
     * may leave as they are. An executor counts them as read and as written.
     *
     * @param variables
     *            the names of the variables that an operation changes
     * @return this
     */
    public Operation.Builder changesInPlace(Function<OpDesc, List<String>> variables) {
        changedInPlace = variables;
        return self();
    }

    /**
     * Declares that an operation is run with other slots than it is written with: for types whose files name a variable
     * as an output only although its previous value is read, or although it is left as it is. Inference and lowering
     * for a run get the changed operation, whose type is the same.
     *
     * @param form
     *            returns the operation as it is run; an operation that it has changed already stays as it is
     * @return this
     */
    public Operation.Builder runAs(UnaryOperator<OpDesc> form) {
        runForm = form;
        return self();
    }

    /**
     * Adds it to a registry, with the gradients that were defined with it.
     *
     * @param registry
     *            where it goes
     */
    public void register(Operations registry) {
        Operation operation = new Operation(this);
        registry.add(operation);
        for (Operation.Builder each : with) {
            if (differentiable != null && each.differentiable == null
                    && gradient instanceof GradientSignature signature && signature.type().equals(each.type)) {
                each.differentiateAs(l -> Operations.derived(signature, operation).makeSteps(l),
                        differentiableValues.toArray(String[]::new));
            }
            each.register(registry);
        }
    }
}
