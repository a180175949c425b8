// Moving pictures: of the camera of the machine that shows the page, or of a video's file. A frame is asked for when the one
// before is answered, so that a slow net sees fewer of them.

const QUALITY = 0.9; // of the JPEG of a frame

/** Starts the camera; `look` is given each frame, a File, and waited for. Gives a function that stops it. */
export async function watch(look) {
  if (!navigator.mediaDevices?.getUserMedia) throw new Error("The browser gives no camera to this page; it must come from localhost or by https.");
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false });
  } catch (error) {
    throw new Error(error.name === "NotAllowedError" ? "The camera was not allowed." : `There is no camera: ${error.message}`);
  }
  const video = document.createElement("video");
  video.srcObject = stream;
  const stop = await frames(video, "camera.jpg", look);
  return () => {
    stop();
    for (const track of stream.getTracks()) track.stop();
  };
}

/** The same for a video's file; `ended` is called at its end. */
export async function play(file, look, ended) {
  const video = document.createElement("video");
  video.src = URL.createObjectURL(file);
  let stop = null;
  const end = () => {
    stop?.();
    URL.revokeObjectURL(video.src);
  };
  video.addEventListener("ended", ended);
  try {
    stop = await frames(video, `${file.name}.jpg`, look);
  } catch {
    end();
    throw new Error(`The browser cannot play ${file.name}: boxpresso detect reads more kinds of videos.`);
  }
  return end;
}

/** Plays a video, and gives its frames to `look`; gives a function that stops it. */
async function frames(video, name, look) {
  const canvas = document.createElement("canvas");
  let running = true;
  video.muted = video.playsInline = true;
  await video.play();
  (async () => {
    while (running) {
      [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
      canvas.getContext("2d").drawImage(video, 0, 0);
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
      if (!running) break;
      if (blob) await look(new File([blob], name, { type: "image/jpeg" }));
      await new Promise(requestAnimationFrame);
    }
  })();
  return () => {
    running = false;
    video.pause();
  };
}
