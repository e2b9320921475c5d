"""Steps of optimizers, and what guards them in mixed precision."""
from cases import case, rand, values

SHAPE = (2, 3)


def state(*slots, dtype="float32", shape=SHAPE):
    """Accumulators: numbers that are not negative, as after some steps."""
    return {slot: rand(*shape, low=0.05, high=0.9, dtype=dtype) for slot in slots}


def step(name, op_slots, attributes=None, extra=None, dtype="float32", rate=0.1, **options):
    """A case whose every `<Slot>Out` is the variable of `<Slot>`, as in the programs that Paddle builds."""
    inputs = {"Param": rand(*SHAPE, dtype=dtype), "Grad": rand(*SHAPE, dtype=dtype), "LearningRate": values([rate], dtype)}
    inputs.update(state(*op_slots, dtype=dtype))
    inputs.update(extra or {})
    written = [s for s in ("Param", *op_slots, *(extra or {})) if s not in ("SkipUpdate", "Beta1Tensor", "Beta2Tensor", "EpsilonTensor")]
    case(name, inputs, attributes or {}, outputs={s + "Out": s.lower() for s in written}, grad=False, **options)


step("sgd.plain", ())
step("sgd.double", (), dtype="float64", repeat=2)
step("momentum.plain", ("Velocity",), {"mu": 0.9}, repeat=2)
step("momentum.nesterov", ("Velocity",), {"mu": 0.8, "use_nesterov": True})
decayed = {"regularization_method": "l2_decay", "regularization_coeff": 0.2}
step("momentum.decayed", ("Velocity",), {"mu": 0.9, **decayed}, dtype="float64")
step("momentum.nesterov_decayed", ("Velocity",), {"mu": 0.9, "use_nesterov": True, **decayed})
step("adagrad.plain", ("Moment",), repeat=2)
step("adagrad.epsilon", ("Moment",), {"epsilon": 1e-2}, dtype="float64")
step("adadelta.plain", ("AvgSquaredGrad", "AvgSquaredUpdate"), repeat=2)
step("adadelta.rho", ("AvgSquaredGrad", "AvgSquaredUpdate"), {"rho": 0.8, "epsilon": 1e-3}, dtype="float64")


def powers(dtype="float32", both=True):
    found = {"Beta1Pow": values([0.9**3], dtype)}
    return {**found, "Beta2Pow": values([0.999**3], dtype)} if both else found


for op in ("adam", "adamw"):
    moments = ("Moment1", "Moment2")
    step(f"{op}.plain", moments, extra=powers(), repeat=2)
    step(f"{op}.betas", moments, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, extra=powers("float64"), dtype="float64")
step("adam.skipped", moments, extra={**powers(), "SkipUpdate": values([True], "bool")})
step("adamw.global_powers", moments, {"use_global_beta_pow": True}, extra=powers())
tensors = {"Beta1Tensor": values([0.7]), "Beta2Tensor": values([0.9]), "EpsilonTensor": values([1e-2])}
step("adam.tensors", ("Moment1", "Moment2"), extra={**powers(), **tensors})
step("adamw.tensors", ("Moment1", "Moment2"), {"with_decay": True}, extra={**powers(), **tensors})
step("adamw.skipped", ("Moment1", "Moment2"), {"with_decay": True}, extra={**powers(), "SkipUpdate": values([True], "bool")})
step("adamw.decayed", ("Moment1", "Moment2"), {"with_decay": True, "coeff": 0.2}, extra=powers(), repeat=2)
step("adamw.ratio", ("Moment1", "Moment2"), {"with_decay": True, "coeff": 0.2, "lr_ratio": 0.5}, extra=powers())


def without_power(name, attributes=None, dtype="float32"):
    """Adamax reads the power of its first beta and leaves it to an operation of its own."""
    inputs = {"Param": rand(*SHAPE, dtype=dtype), "Grad": rand(*SHAPE, dtype=dtype), "LearningRate": values([0.1], dtype)}
    inputs.update(state("Moment", "InfNorm", dtype=dtype), **powers(dtype, both=False))
    case(name, inputs, attributes or {}, outputs={"ParamOut": "param", "MomentOut": "moment", "InfNormOut": "infnorm"}, grad=False)


without_power("adamax.plain")
without_power("adamax.betas", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, "float64")
step("lamb.plain", ("Moment1", "Moment2"), {"weight_decay": 0.01}, extra=powers(), repeat=2)
step("lamb.no_decay", ("Moment1", "Moment2"), {"weight_decay": 0.0, "epsilon": 1e-3}, extra=powers("float64"), dtype="float64")
step("lamb.skipped", ("Moment1", "Moment2"), {"weight_decay": 0.01}, extra={**powers(), "SkipUpdate": values([True], "bool")})
step("lamb.always", ("Moment1", "Moment2"), {"weight_decay": 0.0, "always_adapt": True}, extra=powers())
averages = ("MeanSquare", "Moment")
step("rmsprop.plain", averages, {"epsilon": 1e-6, "decay": 0.95}, extra={"MeanGrad": rand(*SHAPE, low=-0.1, high=0.1)}, repeat=2)
step(
    "rmsprop.momentum",
    averages,
    {"epsilon": 1e-3, "decay": 0.8, "momentum": 0.7},
    extra={"MeanGrad": rand(*SHAPE, low=-0.1, high=0.1, dtype="float64")},
    dtype="float64",
)
step(
    "rmsprop.centered",
    averages,
    {"epsilon": 1e-6, "decay": 0.95, "momentum": 0.5, "centered": True},
    extra={"MeanGrad": rand(*SHAPE, low=-0.1, high=0.1)},
    repeat=2,
)

bad = values([[1, float("inf")], [2, float("nan")]])
pair = {"outputs": {"Out": ["x0", "x1"]}, "grad": False}
unscaled = "check_finite_and_unscale"
case(f"{unscaled}.finite", {"X": [rand(2, 3), rand(4)], "Scale": values([8.0])}, **pair)
case(f"{unscaled}.infinite", {"X": [rand(2, 3), values([1, float("-inf"), 2])], "Scale": values([4.0])}, **pair, hidden=("x0", "x1"))
case(f"{unscaled}.nan", {"X": [values([1, float("nan")], "float64"), rand(2, dtype="float64")], "Scale": values([4.0], "float64")}, **pair, hidden=("x0", "x1"))


def scaling(name, found, good, worse, x, scale=16.0, stop=None, **attributes):
    inputs = {
        "X": x,
        "FoundInfinite": values([found], "bool"),
        "PrevLossScaling": values([scale]),
        "InGoodSteps": values([good], "int32"),
        "InBadSteps": values([worse], "int32"),
    }
    if stop is not None:
        inputs["StopUpdate"] = values([stop], "bool")
    plain = {"incr_every_n_steps": 4, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.5}
    outputs = {"Out": ["x0", "x1"], "LossScaling": "prevlossscaling", "OutGoodSteps": "ingoodsteps", "OutBadSteps": "inbadsteps"}
    case(f"update_loss_scaling.{name}", inputs, {**plain, **attributes}, outputs=outputs, grad=False)


scaling("good", False, 1, 1, [rand(2, 3), rand(2)])
scaling("raised", False, 3, 0, [rand(2, 3), rand(2)])
scaling("bad", True, 3, 0, [bad, rand(2)])
scaling("lowered", True, 0, 1, [bad, rand(2)])
scaling("floor", True, 0, 1, [bad, rand(2)], scale=1.5)
scaling("stop_tensor", True, 0, 1, [bad, rand(2)], stop=True)
scaling("stopped", True, 0, 1, [rand(3), rand(2)], stop_update=True)
