"""Gradients that Paddle appends to small programs, as text.

Each case is a program, calls (of append_backward or gradients) with their answers, and the lines that the program then has
and had not before. The programs are built
operation by operation with given names, so that names can be compared literally. Left out is what Paddle does wrong (see
backward-own.txt): it overwrites the seed of an earlier call, forgets the seed of a target that leads to another, finds no gradient
of a target with regard to itself, and seeds a loss of many elements with one.

    python tools/golden/backward/backward.py > graph/src/test/resources/golden/backward.txt

Run with paddlepaddle 2.6.2 (CPU).
"""

import paddle
from paddle import static
from paddle.base import core

paddle.enable_static()

KINDS = {core.VarDesc.VarType.LOD_TENSOR: "dense", core.VarDesc.VarType.STEP_SCOPES: "scopes",
         core.VarDesc.VarType.SELECTED_ROWS: "rows", core.VarDesc.VarType.LOD_TENSOR_ARRAY: "array"}
SHOWN = ("value", "dtype", "axis", "num", "sections", "scale", "sub_block", "is_scalar_condition", "trans_x", "trans_y", "dim",
         "reduce_all", "keep_dim", "original_output_grad", "in_dtype", "out_dtype", "step", "shape", "soft_label", "ksize", "strides", "paddings", "pooling_type",
         "start_axis", "stop_axis")


class Case:
    def __init__(self, name):
        self.name = name
        self.program = static.Program()
        self.block = self.program.global_block()
        self.earlier = 0

    def data(self, name, *dims, dtype="float32", stop=False):
        self.block.create_var(name=name, shape=dims, dtype=dtype, stop_gradient=stop, need_check_feed=True)

    def parameter(self, name, *dims, trainable=True):
        self.program.global_block().create_parameter(name=name, shape=dims, dtype="float32", trainable=trainable)

    def scopes(self, name):
        self.block.create_var(name=name, type=core.VarDesc.VarType.STEP_SCOPES)

    def op(self, text, **attributes):
        """`type X=a,b Y=c -> Out=d`; outputs that are not there yet are made."""
        left, right = text.split("->")
        kind, *ins = left.split()
        inputs = {s.split("=")[0]: [v for v in s.split("=")[1].split(",") if v] for s in ins}
        outputs = {s.split("=")[0]: s.split("=")[1].split(",") for s in right.split()}
        dtype = attributes.pop("_dtype", "float32")
        for names in outputs.values():
            for name in names:
                if self.block.desc.find_var_recursive(name.encode()) is None:
                    self.block.create_var(name=name, dtype=dtype)

        def var(name):
            return self.block._var_recursive(name)

        self.block.append_op(type=kind, inputs={s: [var(v) for v in vs] for s, vs in inputs.items()},
                             outputs={s: [var(v) for v in vs] for s, vs in outputs.items()}, attrs=attributes)

    def enter(self):
        """A block inside of the current one."""
        self.block = self.program._create_block()
        return self.block

    def leave(self):
        self.program._rollback()
        self.block = self.program.current_block()

    def stop(self, *names):
        for name in names:
            self.block.var(name).stop_gradient = True

    def lines(self):
        for block in self.program.blocks:
            desc = block.desc
            yield f"block {desc.id} parent {desc.parent} forward {desc.get_forward_block_idx()}"
            for var in block.vars.values():
                if var.name != core.empty_var_name():
                    yield f"  var {variable(var)}"
            for op in block.ops:
                yield f"  op {operation(op)}"

    def run(self, *calls):
        print(f"case {self.name} after {self.earlier} calls")
        before = list(self.lines())
        print("\n".join(before))
        for call in calls:
            with static.program_guard(self.program):
                print(f"call {call[0]} {call[1]}")
                for line in answer(self.program, call):
                    print(f"answer {line}")
        print("then")
        known = {line for line in before if line.startswith(" ")}
        print("\n".join(line for line in self.lines() if line not in known))
        print()


def answer(program, call):
    def var(name):
        return program.global_block().var(name)
    words = dict(word.split("=") for word in call[1].split())
    stopped = {name for name in words.get("no", "").split(",") if name} or None
    try:
        if call[0] == "backward":
            paddle.set_flags({"FLAGS_max_inplace_grad_add": int(words.get("chain", "0"))})
            only = [name for name in words.get("only", "").split(",") if name] or None
            pairs = static.append_backward(var(words["loss"]), parameter_list=only, no_grad_set=stopped)
            return [f"{p.name} {g.name}" for p, g in pairs]
        given = [var(name) for name in words["given"].split(",")] if "given" in words else None
        found = static.gradients([var(name) for name in words["of"].split(",")], [var(name) for name in words["to"].split(",")], given,
                                 stopped)
        return [g.name if g is not None else "none" for g in found]
    finally:
        paddle.set_flags({"FLAGS_max_inplace_grad_add": 0})


def variable(var):
    desc = var.desc
    kind = KINDS[desc.type()]
    flags = " stop" if var.stop_gradient else ""
    if kind != "dense":
        return f"{var.name} {kind}{flags}"
    number = int(desc.dtype())
    shape = ",".join(map(str, desc.shape()))
    persistable = " persistable" if var.persistable else ""
    parameter = " parameter" if desc.is_parameter() else ""
    return f"{var.name} {number}[{shape}]{persistable}{parameter}{flags}"


def slots(names, get):
    return " ".join(f"{slot}={','.join(get(slot))}" for slot in sorted(names) if get(slot))


def text(op, name):
    value = op.attr(name)
    if name == "sub_block":
        return str(value.id)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(str, value)) + "]"
    return str(value)


def operation(op):
    shown = [f"{name}={text(op, name)}" for name in sorted(SHOWN) if op.has_attr(name)]
    role = int(op.attr("op_role"))
    pair = ",".join(op.attr("op_role_var")) if op.has_attr("op_role_var") else ""
    return (f"{op.type}({slots(op.input_names, op.input)}) -> {slots(op.output_names, op.output)} {{{' '.join(shown)}}} role {role}"
            + (f" of {pair}" if pair else ""))


def linear(name):
    case = Case(name)
    case.data("x", -1, 4, stop=True)
    case.parameter("w", 4, 3)
    case.parameter("b", 3)
    case.op("matmul_v2 X=x Y=w -> Out=t", trans_x=False, trans_y=False)
    case.op("elementwise_add X=t Y=b -> Out=h", axis=-1)
    return case


def mean(case, of, name="loss"):
    case.op(f"reduce_mean X={of} -> Out={name}", dim=[0], keep_dim=False, reduce_all=True)


def chain(name, *ops):
    """x [2,3] wants a gradient; the rest are unary operations `type from to`."""
    case = Case(name)
    case.data("x", 2, 3)
    for op in ops:
        kind, source, target = op.split()
        case.op(f"{kind} X={source} -> Out={target}")
    return case


def simple():
    case = linear("linear")
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = linear("frozen_parameter")
    case.program.global_block().var("w").stop_gradient = True
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = linear("untrained_parameter")
    case.parameter("v", 3, trainable=False)
    case.op("elementwise_mul X=h Y=v -> Out=m", axis=-1)
    mean(case, "m")
    case.run(("backward", "loss=loss"))

    case = linear("only_one_parameter")
    mean(case, "h")
    case.run(("backward", "loss=loss only=b"))

    case = linear("input_wants_gradient")
    case.block.var("x").stop_gradient = False
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = linear("no_gradient_set")
    case.op("tanh X=h -> Out=a")
    mean(case, "a")
    case.run(("backward", "loss=loss no=t"))

    case = linear("no_gradient_of_all")
    case.op("tanh X=h -> Out=a")
    mean(case, "a")
    case.run(("backward", "loss=loss no=h"))

    case = linear("loss_of_one_element")
    case.op("reduce_mean X=h -> Out=loss", dim=[0], keep_dim=False, reduce_all=True)
    case.op("reshape2 X=loss -> Out=r XShape=s", shape=[1])
    case.run(("backward", "loss=r"))

    case = linear("two_heads")
    case.op("tanh X=h -> Out=a")
    case.op("sigmoid X=h -> Out=dead")
    mean(case, "a")
    mean(case, "dead", "other")
    case.run(("backward", "loss=loss"))

    case = linear("loss_is_read")
    mean(case, "h")
    case.op("tanh X=loss -> Out=after")
    case.run(("backward", "loss=loss"))

    case = linear("two_losses")
    mean(case, "h")
    case.op("tanh X=h -> Out=a")
    mean(case, "a", "other")
    case.run(("backward", "loss=loss"), ("backward", "loss=other"))

    case = linear("same_loss_twice")
    mean(case, "h")
    case.run(("backward", "loss=loss"), ("backward", "loss=loss"))


def producers():
    case = chain("two_producers", "tanh x h", "sigmoid h a", "exp h b")
    case.parameter("w", 2, 3)
    case.op("elementwise_mul X=a Y=b -> Out=c", axis=-1)
    case.op("elementwise_add X=c Y=w -> Out=d", axis=-1)
    mean(case, "d")
    case.run(("backward", "loss=loss"))

    for count in (0, 2, 3, 4):
        case = Case(f"three_producers_chain_{count}")
        case.data("x", 2, 3, stop=True)
        case.parameter("w", 3, 3)
        before = "x"
        for step in range(3):
            case.op(f"matmul_v2 X={before} Y=w -> Out=p{step}", trans_x=False, trans_y=False)
            case.op(f"tanh X=p{step} -> Out=h{step}")
            before = f"h{step}"
        mean(case, before)
        case.run(("backward", f"loss=loss chain={count}"))

    case = chain("square_of_itself", "tanh x h")
    case.op("elementwise_mul X=h Y=h -> Out=s", axis=-1)
    mean(case, "s")
    case.run(("gradients", "of=loss to=x"))

    case = chain("list_twice", "tanh x h", "sigmoid x k")
    case.op("concat X=h,k,h,h -> Out=c", axis=0)
    mean(case, "c")
    case.run(("gradients", "of=loss to=x"))

    case = chain("sum_of_one_thrice", "tanh x h")
    case.op("sum X=h,h,h -> Out=s")
    mean(case, "s")
    case.run(("gradients", "of=loss to=x"))

    case = chain("list_with_stopped", "tanh x h")
    case.data("y", 2, 3, stop=True)
    case.op("concat X=y,h,y -> Out=c", axis=0)
    mean(case, "c")
    case.run(("gradients", "of=loss to=x"))

    case = chain("list_all_stopped_but_twice", "tanh x h")
    case.data("y", 2, 3, stop=True)
    case.op("concat X=y,h,y,h -> Out=c", axis=0)
    case.op("concat X=c,h,y -> Out=e", axis=0)
    mean(case, "e")
    case.run(("gradients", "of=loss to=x"))

    case = chain("diamonds", "tanh x h", "sigmoid h a", "exp h b")
    case.op("elementwise_add X=a Y=b -> Out=c", axis=-1)
    case.op("tanh X=c -> Out=d")
    case.op("elementwise_mul X=d Y=h -> Out=e", axis=-1)
    case.op("elementwise_mul X=e Y=x -> Out=f", axis=-1)
    mean(case, "f")
    case.run(("gradients", "of=loss to=x"))

    case = chain("overwritten", "tanh x h", "sigmoid h a")
    case.op("assign X=a -> Out=h")
    case.op("exp X=h -> Out=b")
    case.op("elementwise_mul X=b Y=h -> Out=c", axis=-1)
    mean(case, "c")
    case.run(("gradients", "of=loss to=x"))

    case = chain("in_place", "tanh x h")
    case.op("scale X=h -> Out=h", scale=3.0)
    case.op("exp X=h -> Out=b")
    case.op("elementwise_mul X=b Y=h -> Out=c", axis=-1)
    mean(case, "c")
    case.run(("gradients", "of=loss to=x"))


def absent():
    case = chain("split_part_unused", "tanh x h")
    case.op("split X=h -> Out=p,q,r", axis=1, num=3)
    case.op("exp X=q -> Out=e")
    mean(case, "e")
    case.run(("gradients", "of=loss to=x"))

    case = chain("split_part_stopped", "tanh x h")
    case.op("split X=h -> Out=p,q,r", axis=1, num=3)
    case.stop("p")
    case.op("elementwise_mul X=p Y=q -> Out=m", axis=-1)
    mean(case, "m")
    case.run(("gradients", "of=loss to=x"))

    case = chain("no_gradient_on_path", "tanh x h", "floor h f")
    case.op("floor X=h -> Out=k")
    case.op("shape Input=h -> Out=s", _dtype="int32")
    case.op("cast X=s -> Out=sf", in_dtype=2, out_dtype=5)
    case.op("reduce_sum X=sf -> Out=n", dim=[0], keep_dim=False, reduce_all=True)
    case.op("elementwise_mul X=h Y=n -> Out=m", axis=-1)
    mean(case, "m")
    case.run(("gradients", "of=loss to=x"))

    case = linear("cross_entropy")
    case.data("y", -1, 1, dtype="int64", stop=True)
    case.op("softmax_with_cross_entropy Logits=h Label=y -> Softmax=s Loss=l", axis=-1, soft_label=False)
    mean(case, "l")
    case.run(("backward", "loss=loss"))

    case = linear("cross_entropy_softmax_used")
    case.data("y", -1, 1, dtype="int64", stop=True)
    case.op("softmax_with_cross_entropy Logits=h Label=y -> Softmax=s Loss=l", axis=-1, soft_label=False)
    case.op("reduce_mean X=s -> Out=r", dim=[0], keep_dim=False, reduce_all=True)
    mean(case, "l", "m")
    case.op("elementwise_add X=m Y=r -> Out=loss", axis=-1)
    case.run(("backward", "loss=loss"))


def several():
    case = chain("of_intermediate", "tanh x h", "exp h e")
    case.run(("gradients", "of=e to=h,x"))

    case = chain("not_connected", "tanh x h")
    case.data("z", 2, 3)
    case.op("exp X=z -> Out=e")
    case.run(("gradients", "of=h to=z,x"))

    case = chain("given", "tanh x h", "exp h e")
    case.data("seed", 2, 3, stop=True)
    case.run(("gradients", "of=e to=x given=seed"))

    case = chain("no_gradient_set_in_gradients", "tanh x h", "exp x k")
    case.op("elementwise_mul X=h Y=k -> Out=m", axis=-1)
    case.run(("gradients", "of=m to=x no=k"))

    case = chain("heads_from_elsewhere", "tanh x h")
    case.data("z", 2, 3)
    case.op("exp X=z -> Out=e")
    case.op("elementwise_mul X=h Y=e -> Out=m", axis=-1)
    case.op("sigmoid X=e -> Out=s")
    case.run(("gradients", "of=m to=x"))

    case = chain("second_derivative", "tanh x h")
    case.run(("gradients", "of=h to=x"), ("gradients", "of=x@GRAD to=x"))

    case = chain("given_in_second_call", "tanh x h", "exp h e")
    case.data("seed", 2, 3, stop=True)
    case.run(("gradients", "of=e to=x"), ("gradients", "of=e to=x given=seed"))

    case = chain("backward_twice_of_different_parts", "tanh x h", "exp h e", "sigmoid h s")
    mean(case, "e")
    mean(case, "s", "other")
    case.parameter("w", 2, 3)
    case.run(("gradients", "of=loss to=x"), ("gradients", "of=other to=x"))

    case = chain("gradient_of_gradients_sum", "tanh x h")
    case.op("elementwise_mul X=h Y=x -> Out=m", axis=-1)
    static_gradients(case, "m", "x")
    case.op("elementwise_mul X=x@GRAD Y=h -> Out=q", axis=-1)
    mean(case, "q")
    case.run(("gradients", "of=loss to=x"))

    case = chain("parts_in_turn", "tanh x h")
    case.op("split X=h -> Out=p,q,r", axis=1, num=3)
    mean(case, "p")
    mean(case, "q", "other")
    case.run(("gradients", "of=loss to=x"), ("gradients", "of=other to=x"))

    case = Case("pair_follows_renames")
    case.data("x", 2, 3)
    case.parameter("w", 2, 3)
    case.op("cos X=w -> Out=c")
    case.op("elementwise_mul X=c Y=x -> Out=m", axis=-1)
    mean(case, "m")
    case.run(("backward", "loss=loss"), ("gradients", "of=w@GRAD to=x"))

    case = chain("counted_back_once", "tanh x h")
    mean(case, "h", "k")
    case.op("increment X=k -> Out=k", step=1.0)
    case.op("exp X=k -> Out=loss")
    case.op("tanh X=k -> Out=other")
    case.run(("gradients", "of=loss to=x"), ("gradients", "of=other to=x"))

    case = linear("penalty")
    case.block.var("x").stop_gradient = False
    case.op("tanh X=h -> Out=a")
    case.run(("gradients", "of=a to=x"))

    case = linear("gradients_then_backward")
    case.block.var("x").stop_gradient = False
    case.op("tanh X=h -> Out=a")
    mean(case, "a")
    case.run(("gradients", "of=a to=x"), ("backward", "loss=loss"))

    case = Case("backward_through_gradients")
    case.data("x", 2, 3)
    case.parameter("w", 3, 3)
    case.op("matmul_v2 X=x Y=w -> Out=p", trans_x=False, trans_y=False)
    case.op("tanh X=p -> Out=a")
    static_gradients(case, "a", "x")
    case.op("elementwise_mul X=x@GRAD Y=x@GRAD -> Out=sq", axis=-1)
    mean(case, "sq")
    case.run(("backward", "loss=loss"))


def static_gradients(case, of, to):
    with static.program_guard(case.program):
        static.gradients([case.block.var(of)], [case.block.var(to)])
    case.earlier += 1


def cond(case, condition, inputs, outs, body, scope):
    """A conditional_block of the current block."""
    outer = case.block
    for name in outs:
        outer.create_var(name=name, dtype="float32", shape=(2, 3))
    case.scopes(scope)
    block = case.enter()
    body()
    case.leave()
    case.op(f"conditional_block Cond={condition} Input={','.join(inputs)} -> Out={','.join(outs)} Scope={scope}", sub_block=block,
            is_scalar_condition=True)


def branches(case, condition, then, otherwise, inputs, out):
    case.op(f"logical_not X={condition} -> Out=not_{out}", _dtype="bool")
    cond(case, condition, inputs, [f"{out}_t"], then, f"{out}_s1")
    cond(case, f"not_{out}", inputs, [f"{out}_f"], otherwise, f"{out}_s2")
    case.op(f"cast X={condition} -> Out=mask_{out}", in_dtype=0, out_dtype=2, _dtype="int32")
    case.block.create_var(name=out, dtype="float32", shape=(2, 3))
    case.op(f"select_input Mask=mask_{out} X={out}_f,{out}_t -> Out={out}")


def blocks():
    case = chain("cond", "tanh x h")
    case.parameter("w", 3, 3)
    case.data("c", 1, dtype="bool", stop=True)

    def product(result, source="h"):
        def body():
            case.op(f"matmul_v2 X={source} Y=w -> Out=in_{result}", trans_x=False, trans_y=False)
            case.op(f"assign X=in_{result} -> Out={result}")
        return body

    def other(result, source="h"):
        def body():
            case.op(f"exp X={source} -> Out=in_{result}")
            case.op(f"assign X=in_{result} -> Out={result}")
        return body

    branches(case, "c", product("o_t"), other("o_f"), ["h", "w"], "o")
    case.op("tanh X=o -> Out=p")
    mean(case, "p")
    case.run(("backward", "loss=loss"))

    case = chain("cond_then_reuse", "tanh x h")
    case.parameter("w", 3, 3)
    case.data("c", 1, dtype="bool", stop=True)
    branches(case, "c", product("o_t"), product("o_f"), ["h", "w"], "o")
    case.op("matmul_v2 X=o Y=w -> Out=p", trans_x=False, trans_y=False)
    mean(case, "p")
    case.run(("backward", "loss=loss"))

    case = chain("cond_no_gradient_in_one", "tanh x h")
    case.parameter("w", 3, 3)
    case.data("c", 1, dtype="bool", stop=True)

    def constant():
        case.op("fill_constant -> Out=in_o_f", shape=[2, 3], value=1.0, dtype=5)
        case.op("assign X=in_o_f -> Out=o_f")

    branches(case, "c", product("o_t"), constant, ["h", "w"], "o")
    mean(case, "o")
    case.run(("backward", "loss=loss"))

    case = chain("cond_half_used", "tanh x h")
    case.parameter("w", 3, 3)
    case.data("c", 1, dtype="bool", stop=True)

    def two():
        product("o_t")()
        case.op("exp X=h -> Out=in_u")
        case.op("assign X=in_u -> Out=u")

    cond(case, "c", ["h", "w"], ["o_t", "u"], two, "s")
    mean(case, "o_t")
    case.run(("backward", "loss=loss"))

    case = chain("nested_cond", "tanh x h")
    case.parameter("w", 3, 3)
    case.data("c", 1, dtype="bool", stop=True)
    case.data("d", 1, dtype="bool", stop=True)

    def inner():
        branches(case, "d", product("i_t"), other("i_f"), ["h", "w"], "i")
        case.op("sigmoid X=i -> Out=j")
        case.op("assign X=j -> Out=o_t")

    branches(case, "c", inner, product("o_f"), ["h", "w", "d"], "o")
    mean(case, "o")
    case.run(("backward", "loss=loss"))

    loops()


def loop(case, body, inputs, outs, scope, condition="c"):
    case.scopes(scope)
    block = case.enter()
    body()
    case.leave()
    case.op(f"while Condition={condition} X={','.join(inputs)} -> Out={','.join(outs)} StepScopes={scope}", sub_block=block, is_test=False)


def counter(case, suffix=""):
    case.op(f"fill_constant -> Out=i{suffix}", shape=[1], value=0.0, dtype=5)
    case.op(f"fill_constant -> Out=n{suffix}", shape=[1], value=3.0, dtype=5)
    case.block.var(f"i{suffix}").stop_gradient = True
    case.block.var(f"n{suffix}").stop_gradient = True
    case.op(f"less_than X=i{suffix} Y=n{suffix} -> Out=c{suffix}", axis=-1, _dtype="bool")
    case.block.var(f"c{suffix}").stop_gradient = True


def step(case, suffix=""):
    case.op(f"scale X=i{suffix} -> Out=i2{suffix}", scale=1.0, bias=1.0)
    case.op(f"less_than X=i2{suffix} Y=n{suffix} -> Out=c2{suffix}", axis=-1, _dtype="bool")
    case.stop(f"i2{suffix}", f"c2{suffix}")
    case.op(f"assign X=i2{suffix} -> Out=i{suffix}")
    case.op(f"assign X=c2{suffix} -> Out=c{suffix}")


def loops():
    case = Case("while")
    case.data("x", 2, 3)
    case.parameter("w", 3, 3)
    case.parameter("v", 3, 3)
    case.op("matmul_v2 X=x Y=v -> Out=h", trans_x=False, trans_y=False)
    counter(case)

    def body():
        case.op("matmul_v2 X=h Y=w -> Out=p", trans_x=False, trans_y=False)
        case.op("tanh X=p -> Out=h2")
        case.op("assign X=h2 -> Out=h")
        step(case)

    loop(case, body, ["h", "i", "n", "w"], ["c", "h", "i"], "scopes")
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = Case("while_captures_twice")
    case.data("x", 2, 3, stop=True)
    case.parameter("w", 3, 3)
    case.op("matmul_v2 X=x Y=w -> Out=h", trans_x=False, trans_y=False)
    counter(case)

    def body2():
        case.op("matmul_v2 X=h Y=w -> Out=p", trans_x=False, trans_y=False)
        case.op("matmul_v2 X=p Y=w -> Out=q", trans_x=False, trans_y=False)
        case.op("elementwise_add X=q Y=x -> Out=h2", axis=-1)
        case.op("assign X=h2 -> Out=h")
        step(case)

    loop(case, body2, ["h", "i", "n", "w", "x"], ["c", "h", "i"], "scopes")
    case.op("matmul_v2 X=h Y=w -> Out=r", trans_x=False, trans_y=False)
    mean(case, "r")
    case.run(("backward", "loss=loss"))

    case = Case("cond_in_while")
    case.data("x", 2, 3, stop=True)
    case.data("d", 1, dtype="bool", stop=True)
    case.parameter("w", 3, 3)
    case.op("matmul_v2 X=x Y=w -> Out=h", trans_x=False, trans_y=False)
    counter(case)

    def left():
        case.op("matmul_v2 X=h Y=w -> Out=in_l", trans_x=False, trans_y=False)
        case.op("assign X=in_l -> Out=o_t")

    def right():
        case.op("tanh X=h -> Out=in_r")
        case.op("assign X=in_r -> Out=o_f")

    def body3():
        branches(case, "d", left, right, ["h", "w"], "o")
        case.op("assign X=o -> Out=h")
        step(case)

    loop(case, body3, ["h", "i", "n", "w", "d"], ["c", "h", "i"], "scopes")
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = Case("while_in_while")
    case.data("x", 2, 3, stop=True)
    case.parameter("w", 3, 3)
    case.op("matmul_v2 X=x Y=w -> Out=h", trans_x=False, trans_y=False)
    counter(case)

    def innermost():
        case.op("matmul_v2 X=h Y=w -> Out=p", trans_x=False, trans_y=False)
        case.op("tanh X=p -> Out=h2")
        case.op("assign X=h2 -> Out=h")
        step(case, "_in")

    def outer():
        counter(case, "_in")
        loop(case, innermost, ["h", "i_in", "n_in", "w"], ["c_in", "h", "i_in"], "scopes_in", "c_in")
        step(case)

    loop(case, outer, ["h", "i", "n", "w"], ["c", "h", "i"], "scopes")
    mean(case, "h")
    case.run(("backward", "loss=loss"))

    case = Case("while_beside_reader")
    case.data("x", 2, 3, stop=True)
    case.parameter("w", 3, 3)
    case.parameter("b", 3)
    case.op("matmul_v2 X=x Y=w -> Out=h", trans_x=False, trans_y=False)
    case.op("matmul_v2 X=x Y=w -> Out=k", trans_x=False, trans_y=False)
    counter(case)

    def body4():
        case.op("elementwise_add X=h Y=k -> Out=p", axis=-1)
        case.op("elementwise_mul X=p Y=b -> Out=h2", axis=-1)
        case.op("assign X=h2 -> Out=h")
        step(case)

    loop(case, body4, ["h", "i", "n", "b", "k"], ["c", "h", "i"], "scopes")
    case.op("elementwise_mul X=h Y=k -> Out=r", axis=-1)
    mean(case, "r")
    case.run(("backward", "loss=loss"))


if __name__ == "__main__":
    simple()
    producers()
    absent()
    several()
    blocks()
