"""Prints which attention backends of torch work on this machine, in lines `NAME: VALUE`.

`rock-matrix attention judge FILE` checks the output. The script needs only a torch for ROCm. Set the environment variables
before it starts: torch reads some of them only once, when it is imported.
"""
import glob
import os
import sys

VARIABLES = (
    "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
    "TORCH_ROCM_FA_PREFER_CK",
    "PYTORCH_ROCM_ARCH",
    "HSA_OVERRIDE_GFX_VERSION",
    "HIP_VISIBLE_DEVICES",
    "AMD_SERIALIZE_KERNEL",
)


def say(what, answer):
    """Prints a value on one line, even if it contains line breaks."""
    print(f"{what}: {' '.join(str(answer).split())}", flush=True)


def title(text):
    print(f"\n=== {text} ===", flush=True)


def ask(what, question):
    """Prints a value, or the error that it raises. `n/a` if this torch does not have it."""
    try:
        say(what, question())
    except (AttributeError, ImportError):
        say(what, "n/a")
    except Exception as error:
        say(what, f"ERR: {error}")


def load_aotriton(torch):
    """Loads the library to list its operators; torch finds the library without this."""
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    found = sorted(glob.glob(os.path.join(folder, "libaotriton_v2.so*")))
    if found:
        torch.ops.load_library(found[0])
    names = getattr(torch.ops, "aotriton", None)
    return [name for name in dir(names) if not name.startswith("_")] if names else "none"


def main():
    print("=== SDPA Backend Check ===", flush=True)
    try:
        import torch
    except Exception as error:
        say("Failed to import torch", error)
        return 1
    cuda = torch.backends.cuda
    say("Torch", torch.__version__)
    say("HIP", getattr(torch.version, "hip", None))
    has_device = torch.cuda.is_available()
    say("CUDA available", has_device)
    if has_device:
        ask("Device 0", lambda: torch.cuda.get_device_name(0))
        ask("gfx", lambda: torch.cuda.get_device_properties(0).gcnArchName)

    title("Environment Variables")
    for name in VARIABLES:
        say(name, os.environ.get(name, "Not set"))

    title("AOTriton Ops")
    ask("torch.ops.aotriton", lambda: load_aotriton(torch))

    title("SDPA Feature Flags")
    ask("is_flash_attention_available", lambda: cuda.is_flash_attention_available())
    ask("is_ck_sdpa_available", lambda: cuda.is_ck_sdpa_available())
    ask("flash_sdp_enabled", lambda: cuda.flash_sdp_enabled())
    ask("mem_efficient_sdp_enabled", lambda: cuda.mem_efficient_sdp_enabled())
    ask("math_sdp_enabled", lambda: cuda.math_sdp_enabled())
    ask("cudnn_sdp_enabled", lambda: cuda.cudnn_sdp_enabled())
    ask("preferred_rocm_fa_library()", lambda: cuda.preferred_rocm_fa_library())
    if not has_device:
        print("\nCUDA/HIP device not available; skipping runtime backend execution checks.", flush=True)
        return 0

    title("Backend Viability (can_use_*)")
    query, key, value = (torch.randn(1, 1, 128, 64, device="cuda", dtype=torch.float16) for _ in range(3))

    def params():
        return cuda.SDPAParams(query, key, value, None, 0.0, True, False)

    ask("can_use_flash_attention", lambda: cuda.can_use_flash_attention(params(), debug=True))
    ask("can_use_efficient_attention", lambda: cuda.can_use_efficient_attention(params(), debug=True))

    title("Forced Execution Per Backend")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def forced(name):
        with sdpa_kernel(getattr(SDPBackend, name)):
            torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            # Errors of a kernel are raised at the next synchronization.
            torch.cuda.synchronize()
        return "OK"

    for name in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION"):
        ask(name, lambda: forced(name))
    print("\nDone.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
